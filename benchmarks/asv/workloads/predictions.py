"""Predictions, and what is computed from a fitted model."""

from hssvm import SVC, Cells

from . import rows


class Exact:
    """A model on the exact kernel, with dense rows."""

    def setup(self):
        self.X, self.y = rows.classes(3000)
        self.model = SVC(probability="sigmoid").fit(self.X, self.y)

    def time_predict(self):
        self.model.predict(self.X)

    def time_single_row(self):
        self.model.predict(self.X[:1])

    def time_probabilities(self):
        self.model.predict_proba(self.X)

    def time_certify(self):
        self.model.certify(self.X, self.y)

    def time_shapley_values(self):
        self.model.explain(self.X[:10])


class Others:
    """A model of sparse rows, and an approximation."""

    def setup(self):
        self.sparse, y = rows.sparse_classes(2000)
        self.of_sparse = SVC().fit(self.sparse, y)
        self.X, y = rows.classes(4000)
        cells = Cells(n_trees=1, size=1000)
        self.approximated = SVC(approximation=cells, random_state=0).fit(self.X, y)

    def time_sparse(self):
        self.of_sparse.predict(self.sparse)

    def time_cells(self):
        self.approximated.predict(self.X)
