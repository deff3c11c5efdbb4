"""
Boiling points of molecules
===========================

Compare molecules by the fragments that they share, with the Tanimoto kernel.
"""

# %%
# The data are 147 common liquids in SMILES notation, which writes a molecule as a string: ``CCO``
# is ethanol, and ``c1ccccc1`` is benzene. The numbers are boiling points in degrees Celsius, from
# the *CRC Handbook of Chemistry and Physics* (table *Physical Constants of Organic Compounds*),
# rounded. The set is small enough for this page; real ones have thousands of molecules.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.pipeline import make_pipeline

from hssvm import SVRCV

liquids = """
CCCCC 36  CCCCCC 69  CCCCCCC 98  CCCCCCCC 126  CCCCCCCCC 151  CCCCCCCCCC 174  CCCCCCCCCCCC 216
CC(C)CC 28  CC(C)CCC 60  C1CCCCCC1 119  CC(C)(C)C 10  CC(C)C(C)C 58  CC(C)CC(C)(C)C 99
C1CCCC1 49  C1CCCCC1 81  CC1CCCCC1 101  C=CCCC 30  C=CCCCC 63  C=CCCCCCC 121  C1CCC=CC1 83
C=CC(C)=C 34  c1ccccc1 80  Cc1ccccc1 111  CCc1ccccc1 136  Cc1ccccc1C 144  Cc1cccc(C)c1 139
Cc1ccc(C)cc1 138  CCCc1ccccc1 159  C=Cc1ccccc1 145  Cc1cc(C)cc(C)c1 165  CCCCc1ccccc1 183
c1ccc2ccccc2c1 218  CC(C)c1ccccc1 152  CO 64  CCO 78  CCCO 97  CC(C)O 82  CCCCO 118  CC(C)CO 108
CCC(C)O 99  CC(C)(C)O 82  CCCCCO 138  CC(C)CCO 131  CCCCCCO 157  CCCCCCCO 178  CCCCCCCCO 195
OC1CCCCC1 161  OCc1ccccc1 205  C=CCO 97  OCCO 198  CC(O)CO 187  OCCCO 215  OCC(O)CO 289
Oc1ccccc1 182  Cc1ccccc1O 191  Cc1cccc(O)c1 202  COc1ccccc1 154  CCOc1ccccc1 170  CCOCC 34
CCCOCCC 90  CC(C)OC(C)C 68  CCCCOCCCC 142  COC(C)(C)C 55  C1CCOC1 66  C1CCOCC1 88  C1COCCO1 101
COCCOC 85  COCCO 124  CC(C)=O 56  CCC(C)=O 80  CCCC(C)=O 102  CCC(=O)CC 102  CC(C)CC(C)=O 116
CCCCC(C)=O 128  O=C1CCCC1 130  O=C1CCCCC1 155  CC(=O)c1ccccc1 202  CC=O 21  CCC=O 48  CCCC=O 75
CCCCC=O 103  CCCCCC=O 130  O=Cc1ccccc1 179  OC=O 101  CC(=O)O 118  CCC(=O)O 142  CCCC(=O)O 164
CC(C)C(=O)O 154  CCCCC(=O)O 186  CCCCCC(=O)O 205  COC=O 32  CCOC=O 54  COC(C)=O 57  CCOC(C)=O 77
CCCOC(C)=O 101  CC(C)OC(C)=O 89  CCCCOC(C)=O 126  CCC(=O)OC 79  CCC(=O)OCC 99  CCCC(=O)OCC 121
COC(=O)c1ccccc1 199  CCOC(=O)c1ccccc1 212  CCCN 47  CCCCN 77  CCCCCN 105  CCCCCCN 132  CCNCC 55
CCN(CC)CC 89  NC1CCCCC1 134  C1CCNCC1 106  C1CCNC1 87  C1COCCN1 128  c1ccncc1 115  Cc1ccccn1 129
Nc1ccccc1 184  CNc1ccccc1 197  CN(C)c1ccccc1 193  Cc1ccccc1N 200  NCCN 117  NCCO 170  CC#N 82
CCC#N 97  CCCC#N 118  N#Cc1ccccc1 191  CN(C)C=O 153  CC(=O)N(C)C 166  C[N+](=O)[O-] 101
CC[N+](=O)[O-] 114  O=[N+]([O-])c1ccccc1 211  ClCCl 40  ClC(Cl)Cl 61  ClC(Cl)(Cl)Cl 77  CCCCl 46
CCCCCl 78  CCCCCCl 108  ClCCCl 83  CC(Cl)Cl 56  ClC=C(Cl)Cl 87  Clc1ccccc1 132  Clc1ccccc1Cl 180
CCBr 38  CCCBr 71  CCCCBr 101  Brc1ccccc1 156  CCI 72  Fc1ccccc1 85  CC(C)N 32
"""
words = liquids.split()
smiles, boiling_point = np.array(words[::2]), np.array(words[1::2], dtype=float)

# %%
# A fingerprint lists the fragments of a molecule. Here, a fragment is any string of up to three
# characters of the SMILES. Upper and lower case differ: ``c`` is an aromatic carbon atom. The
# Tanimoto kernel of two fingerprints is the share of the fragments in both among those in either.
# It has no parameters, and works on sparse rows.

fragments = {"analyzer": "char", "ngram_range": (1, 3), "lowercase": False}
bits = CountVectorizer(binary=True, **fragments)
counts = CountVectorizer(**fragments)
print(counts.fit_transform(smiles).shape)

# %%
# The kernel also compares counts of fragments, and here that matters: all long chains have the same
# fragments, but the longer ones boil at higher temperatures. Compare the two in a cross-validation
# of ten folds, and with the mean of all boiling points as a prediction. ``SVRCV`` chooses C, in
# every fold anew.

folds = KFold(10, shuffle=True, random_state=0)
error = np.abs(boiling_point - boiling_point.mean()).mean()
print(f"mean    off by {error:.0f} degrees on average")
predicted = {}
for name, fingerprint in {"bits": bits, "counts": counts}.items():
    model = make_pipeline(fingerprint, SVRCV(kernel="tanimoto", random_state=0))
    predicted[name] = cross_val_predict(model, smiles, boiling_point, cv=folds)
    error = np.abs(predicted[name] - boiling_point).mean()
    print(f"{name:7s} off by {error:.0f} degrees on average")

# %%
# Plot the predictions. Fingerprints from a library such as RDKit know more about chemistry. Pass
# their bits or counts as a CSR matrix; the estimator stays the same.

figure, axes = plt.subplots(1, 2, figsize=(7, 3.7), layout="constrained", sharey=True)
for ax, (name, values) in zip(axes, predicted.items(), strict=True):
    ax.axline((0, 0), slope=1, color="0.6", lw=1)
    ax.plot(boiling_point, values, "o", ms=4, mec="white", mew=0.4)
    ax.set(title=name, xlabel="measured, °C", xlim=(0, 300), ylim=(0, 300), aspect="equal")
axes[0].set_ylabel("predicted, °C")
for formula, name in {"OCC(O)CO": "glycerol", "CCCCCCCCCCCC": "dodecane"}.items():
    (i,) = np.flatnonzero(smiles == formula)
    point = boiling_point[i], predicted["bits"][i]
    axes[0].annotate(name, point, (-6, -3), textcoords="offset points", ha="right")
