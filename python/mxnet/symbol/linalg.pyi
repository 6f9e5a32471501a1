# Generated from the operator records by `./dev docs`; do not edit.
from collections.abc import Sequence
from typing import Any, Literal, overload

from .symbol import Symbol
def det(A: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Determinants of square matrices."""
def extractdiag(A: Symbol | None = ..., offset: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Diagonals of square matrices.

    offset: Which diagonal: above the main one when positive, below it when negative.
    """
def extracttrian(A: Symbol | None = ..., offset: int = ..., lower: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Triangles of square matrices as vectors.

    offset: The diagonal that bounds the triangle. When positive the triangle lies above it, when
        negative below it.
    lower: With offset 0: the lower triangle, else the upper one.
    """
def gelqf(A: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """LQ factors of matrices with at most as many rows as columns: A = L * Q, with L lower
    triangular and orthonormal rows in Q.
    """
def gemm(A: Symbol | None = ..., B: Symbol | None = ..., C: Symbol | None = ..., transpose_a: bool = ..., transpose_b: bool = ..., alpha: float = ..., beta: float = ..., axis: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Products of matrices plus other matrices: alpha * op(A) * op(B) + beta * C, where op may
    transpose.

    transpose_a: Multiply with the matrices of A transposed.
    transpose_b: Multiply with the matrices of B transposed.
    alpha: Factor of the product.
    beta: Factor of C.
    axis: Dimension that the rows of the matrices lie along; their columns lie along the last one.
        All other dimensions count matrices.
    """
def gemm2(A: Symbol | None = ..., B: Symbol | None = ..., transpose_a: bool = ..., transpose_b: bool = ..., alpha: float = ..., axis: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Products of matrices: alpha * op(A) * op(B), where op may transpose.

    transpose_a: Multiply with the matrices of A transposed.
    transpose_b: Multiply with the matrices of B transposed.
    alpha: Factor of the product.
    axis: Dimension that the rows of the matrices lie along; their columns lie along the last one.
        All other dimensions count matrices.
    """
def inverse(A: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Inverses of square matrices."""
def makediag(A: Symbol | None = ..., offset: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Square matrices with given diagonals and zeros elsewhere.

    offset: Which diagonal: above the main one when positive, below it when negative.
    """
def maketrian(A: Symbol | None = ..., offset: int = ..., lower: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Square matrices with given triangles and zeros elsewhere, the reverse of linalg_extracttrian.

    offset: The diagonal that bounds the triangle. When positive the triangle lies above it, when
        negative below it.
    lower: With offset 0: the lower triangle, else the upper one.
    """
def potrf(A: Symbol | None = ..., lower: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Cholesky factors of positive definite matrices: lower triangular L with A = L * L^T, or upper
    triangular U with A = U^T * U.

    lower: The factors are lower triangular, and so are the triangles that are read; else upper.
    """
def potri(A: Symbol | None = ..., lower: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Inverses of positive definite matrices from their Cholesky factors: (A * A^T)^-1 with A lower
    triangular, or (A^T * A)^-1 with A upper triangular.

    lower: The factors are lower triangular, and so are the triangles that are read; else upper.
    """
def slogdet(A: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Signs of determinants of square matrices, and the logarithms of their absolute values."""
def sumlogdiag(A: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Sums of the logarithms of the diagonals of square matrices: of a Cholesky factor, half of the
    logarithm of the determinant.
    """
def syevd(A: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Eigenvalues and eigenvectors of symmetric matrices: A = U^T * diag(L) * U, with the
    eigenvectors as rows of U.
    """
def syrk(A: Symbol | None = ..., transpose: bool = ..., alpha: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Products of matrices with their own transposes: alpha * A * A^T, or alpha * A^T * A with
    `transpose`.

    transpose: Multiply the transposed matrices with the matrices.
    alpha: Factor of the product.
    """
def trmm(A: Symbol | None = ..., B: Symbol | None = ..., transpose: bool = ..., rightside: bool = ..., lower: bool = ..., alpha: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Products with triangular matrices: alpha * op(A) * B, or alpha * B * op(A) with `rightside`,
    where op may transpose.

    transpose: Use the triangular matrices transposed.
    rightside: The triangular matrices stand right of the others instead of left.
    lower: The lower triangles of A are used, else the upper ones.
    alpha: Factor of the result.
    """
def trsm(A: Symbol | None = ..., B: Symbol | None = ..., transpose: bool = ..., rightside: bool = ..., lower: bool = ..., alpha: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Solves systems of equations with triangular matrices: X with op(A) * X = alpha * B, or X *
    op(A) = alpha * B with `rightside`, where op may transpose.

    transpose: Use the triangular matrices transposed.
    rightside: The triangular matrices stand right of the others instead of left.
    lower: The lower triangles of A are used, else the upper ones.
    alpha: Factor of the result.
    """
