"""Per-sample arithmetic of the losses, in one fixed order so that every machine gets the same bits."""

from libc.math cimport fabs
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t

cdef extern from "portable.h" nogil:
    double portable_exp(double)
    void portable_exp_all(double*, int64_t)
    double portable_log(double)

cdef enum:
    ADABOOST, LOGITBOOST, L2BOOST, VEBBOOST

cdef double UNIT = 1 << 30  # the integer weights of a round add up to at most this


def log(double x):
    """Natural logarithm with the same bits everywhere, for positive normal x."""
    return portable_log(x)


def total(const double[::1] values):
    """The sum, from first to last."""
    cdef double sum_ = 0.0
    cdef Py_ssize_t n
    with nogil:
        for n in range(values.shape[0]):
            sum_ += values[n]
    return sum_


cdef double log_one_plus_exp(double x) noexcept nogil:
    """ln(1 + e^x) without overflow."""
    return (x if x > 0 else 0.0) + portable_log(1.0 + portable_exp(-fabs(x)))


def loss_of(int loss, const int8_t[::1] labels, const double[::1] base, const double[::1] decision):
    """Weighted mean loss; AdaBoost's is exponential [Appel 2.9], VEB-Boost's too."""
    cdef double total = 0.0, margin
    cdef Py_ssize_t n
    with nogil:
        for n in range(labels.shape[0]):
            margin = labels[n] * decision[n]
            if loss == LOGITBOOST:
                total += base[n] * log_one_plus_exp(-margin)
            elif loss == L2BOOST:
                total += base[n] * (1.0 - margin) * (1.0 - margin)
            else:
                total += base[n] * portable_exp(-margin)
    return total


def error_of(const int8_t[::1] labels, const double[::1] base, const double[::1] decision):
    """Weighted share of samples on the wrong side of zero; zero itself counts as negative [Appel 2.8]."""
    cdef double total = 0.0
    cdef Py_ssize_t n
    with nogil:
        for n in range(labels.shape[0]):
            if (decision[n] > 0) != (labels[n] > 0):
                total += base[n]
    return total


cdef double exponential(const int8_t[::1] labels, const double[::1] base,
                        const double[::1] decision, double lam, double[::1] gradient,
                        double[::1] hessian) noexcept nogil:
    """w = base exp(-y H), scaled to a sum of 1; for VEB-Boost then u = lam n w^2 + (1 - lam) w."""
    cdef double largest = -1e308, total = 0.0, count = <double>labels.shape[0], u
    cdef Py_ssize_t n
    for n in range(labels.shape[0]):
        if base[n] > 0 and -labels[n] * decision[n] > largest:
            largest = -labels[n] * decision[n]
    for n in range(labels.shape[0]):
        hessian[n] = -labels[n] * decision[n] - largest
    portable_exp_all(&hessian[0], hessian.shape[0])
    for n in range(labels.shape[0]):
        hessian[n] *= base[n]
        total += hessian[n]
    for n in range(labels.shape[0]):
        u = hessian[n] / total
        u = lam * count * u * u + (1.0 - lam) * u
        hessian[n] = u
        gradient[n] = labels[n] * u
    return portable_exp(largest) * total


cdef double logistic(const int8_t[::1] labels, const double[::1] base, const double[::1] decision,
                     double[::1] gradient, double[::1] hessian) noexcept nogil:
    """p = 1 / (1 + exp(-H)); the working response (y* - p) / h is kept within -4..4 [Meir]."""
    cdef double total = 0.0, p, h, g
    cdef Py_ssize_t n
    for n in range(labels.shape[0]):
        p = 1.0 / (1.0 + portable_exp(-fabs(decision[n])))
        h = p * (1.0 - p)
        if decision[n] < 0:
            p = 1.0 - p
        g = (1.0 - p) if labels[n] > 0 else -p
        hessian[n] = base[n] * h
        gradient[n] = base[n] * max(-4.0 * h, min(4.0 * h, g))
        total += base[n] * log_one_plus_exp(-labels[n] * decision[n])
    return total


cdef double squared(const int8_t[::1] labels, const double[::1] base, const double[::1] decision,
                    double[::1] gradient, double[::1] hessian) noexcept nogil:
    """The residual y - H is what the next tree fits."""
    cdef double total = 0.0, residual
    cdef Py_ssize_t n
    for n in range(labels.shape[0]):
        residual = labels[n] - decision[n]
        hessian[n] = base[n]
        gradient[n] = base[n] * residual
        total += base[n] * residual * residual
    return total


def gradients(
    int loss,
    const int8_t[::1] labels,      # IN
    const double[::1] base,        # IN  the user's weights, summing to 1
    const double[::1] decision,    # IN  H so far
    double lam,
    double[::1] gradient,          # OUT minus the derivative of the loss
    double[::1] hessian,           # OUT second derivative, or its stand-in
):
    """What the next tree has to fit; returns the mean loss so far."""
    cdef double value
    with nogil:
        if loss == LOGITBOOST:
            value = logistic(labels, base, decision, gradient, hessian)
        elif loss == L2BOOST:
            value = squared(labels, base, decision, gradient, hessian)
        else:
            value = exponential(labels, base, decision, lam, gradient, hessian)
    return value


def quantise(
    const double[::1] gradient,    # IN
    const double[::1] hessian,     # IN
    bint regression,               # weight is the hessian; else it is |gradient|
    int32_t[::1] weight,           # OUT
    int32_t[::1] target,           # OUT
):
    """Scale to integers whose sums stay within 2^30; from here on training is exact."""
    cdef double weights = 0.0, targets = 0.0, scale, largest
    cdef Py_ssize_t n
    with nogil:
        for n in range(gradient.shape[0]):
            targets += fabs(gradient[n])
            weights += hessian[n]
        largest = max(targets, weights if regression else 0.0)
        scale = UNIT / largest if largest > 0 else 0.0
        for n in range(gradient.shape[0]):
            target[n] = <int32_t>(gradient[n] * scale)
            if not regression:
                weight[n] = target[n] if target[n] > 0 else -target[n]
                continue
            weight[n] = <int32_t>(hessian[n] * scale)
            if weight[n] == 0:
                target[n] = 0


def leaf_sums(
    const uint8_t[::1] leaf,       # IN  which leaf each sample is in
    const int8_t[::1] labels,      # IN
    const double[::1] values,      # IN
    double[:, ::1] sums,           # OUT (leaves, 2) over negative and over positive samples
):
    """Add up values leaf by leaf and class by class."""
    cdef Py_ssize_t n
    with nogil:
        sums[:, :] = 0.0
        for n in range(labels.shape[0]):
            sums[leaf[n], labels[n] > 0] += values[n]
