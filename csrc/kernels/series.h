/* SPDX-License-Identifier: MIT */
#ifndef SBS_KERNELS_SERIES_H
#define SBS_KERNELS_SERIES_H

/* The coefficients of series in a^2, lowest power first, to 2e-17 up to a = pi / 4. */

/* sin(a) / a */
static const double sbs_sine_over_angle[] = {1.0,
                                             -1.0 / 6.0,
                                             1.0 / 120.0,
                                             -1.0 / 5040.0,
                                             1.0 / 362880.0,
                                             -1.0 / 39916800.0,
                                             1.0 / 6227020800.0,
                                             -1.0 / 1307674368000.0,
                                             1.0 / 355687428096000.0};

/* cos(a) */
static const double sbs_cosine[] = {1.0,
                                    -1.0 / 2.0,
                                    1.0 / 24.0,
                                    -1.0 / 720.0,
                                    1.0 / 40320.0,
                                    -1.0 / 3628800.0,
                                    1.0 / 479001600.0,
                                    -1.0 / 87178291200.0,
                                    1.0 / 20922789888000.0,
                                    -1.0 / 6402373705728000.0};

#endif
