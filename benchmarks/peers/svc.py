"""Time and accuracy of hssvm.SVC on the compressed kernel alone, beside exact ones.

python -m benchmarks.peers.svc [NAME ...] [--repeats 3] [--libsvm]

All in one process and one run, on the published split; the best of the repeats counts, the models
taking turns. Threads: set OMP_NUM_THREADS.
"""

import argparse

import numpy as np
from sklearn.svm import SVC as LibSVM
from sklearnex.svm import SVC as IntelSVC

from benchmarks.peers.settings import load_setting
from benchmarks.timing import timed
from hssvm import SVC


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=["ijcnn1", "cod-rna", "a9a", "w8a"])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--libsvm", action="store_true", help="minutes more; once, not repeated")
    arguments = parser.parse_args()
    print("data        model      fit s   predict s   accuracy %   notes")
    for name in arguments.names:
        (X, y, Xt, yt), parameters = load_setting(name)
        models = {
            "hssvm": lambda seed: SVC(**parameters, refine=False, random_state=seed),
            "sklearnex": lambda seed: IntelSVC(**parameters, cache_size=2000),
        }
        times = {key: [] for key in models}
        for repeat in range(arguments.repeats):
            for key, make in models.items():
                model, fit = timed(lambda: make(repeat).fit(X, y))
                predicted, predict = timed(lambda: model.predict(Xt))
                times[key].append((fit, predict, 100 * np.mean(predicted == yt), model))
        if arguments.libsvm:
            model, fit = timed(lambda: LibSVM(**parameters, cache_size=2000).fit(X, y))
            predicted, predict = timed(lambda: model.predict(Xt))
            times["LIBSVM"] = [(fit, predict, 100 * np.mean(predicted == yt), model)]
        best = {key: [min(t[i] for t in runs) for i in (0, 1)] for key, runs in times.items()}
        for key, runs in times.items():
            accuracies = [run[2] for run in runs]
            accuracy = f"{np.mean(accuracies):.2f}"
            if np.ptp(accuracies) > 0:
                accuracy += f" ({min(accuracies):.2f}-{max(accuracies):.2f})"
            notes = ""
            if key == "hssvm":
                report = runs[-1][3].fit_report_
                notes = f"gap {report.gap.max():.1e}, kernel error {report.kernel_error:.3f}"
            else:
                ratios = [best[key][i] / best["hssvm"][i] for i in (0, 1)]
                notes = f"{ratios[0]:.1f} x and {ratios[1]:.1f} x the time of hssvm"
            fit, predict = best[key]
            print(
                f"{name:12s}{key:10s}{fit:6.2f}{predict:11.3f}   {accuracy:20s} {notes}", flush=True
            )


if __name__ == "__main__":
    main()
