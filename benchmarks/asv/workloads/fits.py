"""Fits: exact, approximated, and with a search of the parameters."""

from hssvm import HSS, SVC, SVCCV, SVR, Cells, OneClassSVM

from . import rows


class Exact:
    """The exact solution, by the number of rows."""

    params = (1000, 4000, 16000)
    param_names = ("rows",)

    def setup(self, n):
        self.X, self.y = rows.classes(n)

    def time_svc(self, n):
        SVC().fit(self.X, self.y)


class Several:
    """Exact fits of other problems."""

    def setup(self):
        self.X, self.y = rows.classes(3000, n_classes=5)
        self.rings = rows.classes(2000)
        self.waves = rows.values(3000)
        self.sparse = rows.sparse_classes(2000)

    def time_one_vs_one(self):
        SVC(multi_class="ovo").fit(self.X, self.y)

    def time_svr(self):
        SVR().fit(*self.waves)

    def time_one_class(self):
        OneClassSVM(nu=0.1).fit(self.X)

    def time_sparse(self):
        SVC().fit(*self.sparse)

    def time_probability(self):
        SVC(probability="sigmoid").fit(*self.rings)


class Approximated:
    """Fits in linear time."""

    def setup(self):
        self.X, self.y = rows.classes(6000)

    def time_cells(self):
        SVC(approximation=Cells(n_trees=1, size=1000), random_state=0).fit(self.X, self.y)

    def time_forest(self):
        SVC(approximation=HSS(n_trees=1), refine=False, random_state=0).fit(self.X, self.y)


class Search:
    """Cross-validation over kernels, scalings and parameters."""

    def setup(self):
        self.X, self.y = rows.classes(400, p=3)

    def time_svccv(self):
        SVCCV(cv=2, Cs=[1.0, 10.0], random_state=0).fit(self.X, self.y)
