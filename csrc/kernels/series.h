/* SPDX-License-Identifier: MIT */
#ifndef SBS_DEFORM_SERIES_H
#define SBS_DEFORM_SERIES_H

/*
 * Polynomials, lowest power first, that take the place of functions of angles in the kernels. For float32 a beginning
 * of those for float64 will do where they are Taylor series.
 */

/* sin(a) / a in a^2: up to a = pi / 4 the first 5 are right to 3e-9, all to 2e-17 (half of that in units of 2^-52). */
static const double sbs_sine_over_angle[] = {
    1.0,
    -1.0 / 6.0,
    1.0 / 120.0,
    -1.0 / 5040.0,
    1.0 / 362880.0,
    -1.0 / 39916800.0,
    1.0 / 6227020800.0,
    -1.0 / 1307674368000.0,
    1.0 / 355687428096000.0,
};

/* cos(a) in a^2: up to a = pi / 4 the first 6 are right to 2e-10, all to 6e-18. */
static const double sbs_cosine[] = {
    1.0,
    -1.0 / 2.0,
    1.0 / 24.0,
    -1.0 / 720.0,
    1.0 / 40320.0,
    -1.0 / 3628800.0,
    1.0 / 479001600.0,
    -1.0 / 87178291200.0,
    1.0 / 20922789888000.0,
    -1.0 / 6402373705728000.0,
};

/*
 * f = a / sin(a) in x = 1 - cos(a), for angles up to 90 degrees, where x is 1: of the least greatest relative error,
 * which is 7.1e-8 and 3.1e-17.
 */
static const double sbs_angle_over_sine_float32[] = {
    1.00000007,    0.3333221732,  0.1336219224,  0.05430243043, 0.03918456897,
    -0.0251881708, 0.06064077475, -0.0425665624, 0.01747900935,
};
static const double sbs_angle_over_sine_float64[] = {
    1.000000000000000031,     0.3333333333333066166,    0.1333333333372093677,   0.05714285691984116402,
    0.02539683217958748797,   0.01154388552835810569,   0.005329564150187402833, 0.002472823519229912297,
    0.001256622986180366771,  0.0001396473484595850736, 0.001784338248644474702, -0.004194426801705445988,
    0.009639578676532278695,  -0.01656682040880129923,  0.02240191389784513433,  -0.02327374611005406663,
    0.01832024985826509563,   -0.01055981664335896728,  0.00422145001473901016,  -0.001048793651530929555,
    0.0001235004119612468858,
};

/*
 * Its derivative by x, (1 - a / tan(a)) / sin(a)^2, likewise: to 8.8e-4 and 3.3e-8. It only decides how fast iterations
 * converge.
 */
static const double sbs_angle_over_sine_slope_float32[] = {
    0.3336264729, 0.2513469201, 0.2919172954, -0.2047465263, 0.3269764192,
};
static const double sbs_angle_over_sine_slope_float64[] = {
    0.33333334415974873,  0.26666397723896029,   0.17153762002620782,  0.099884392810033785,
    0.071173801430666824, -0.029056855594683797, 0.18647156718254207,  -0.28284867012779383,
    0.31474715985544688,  -0.18418310286531248,  0.052276733404937489,
};

#endif
