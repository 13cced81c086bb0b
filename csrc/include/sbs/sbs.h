/* SPDX-License-Identifier: MIT */
/*
 * libsbs: skinning of meshes by their skeletons.
 *
 * Skinning moves the vertices of a mesh with the joints of a skeleton. This library deforms meshes by one formula, for
 * a vertex v with influences (j_i, w_i), sum w_i = 1:
 *
 *     v' = Q (v - c) + sum_i w_i C_i c                                          Kavan & Zara 2005, eq. (9)
 *
 * C_i is the skinning matrix of joint j_i (pose matrix times inverse bind matrix), Q a blended rotation and c a
 * rotation center. A method is a choice of Q and of c; see sbs_method.
 *
 *   Kavan, L. and Zara, J. 2005. Spherical Blend Skinning: A Real-time Deformation of Articulated Models. I3D '05.
 *   Kavan, L., Collins, S., Zara, J. and O'Sullivan, C. 2007. Skinning with Dual Quaternions. I3D '07.
 *
 * CONVENTIONS
 *
 *   vectors      columns; a point is moved as C v
 *   matrices     row-major, m[row][column], translation in the last column
 *   quaternions  (w, x, y, z)
 *   handedness   right-handed
 *   units        the caller's; no function assumes a scale
 *   shapes       (V, 3) means V rows of 3 numbers, packed unless a stride says otherwise; V vertices, J joints,
 *                K influences per vertex, N joint sets, F frames
 *   spaces       rest positions, joint positions and rotation centers are in the space in which the mesh was bound;
 *                skinning matrices map from there to the space of the deformed positions
 *
 * STAGES
 *
 *   bind    once          sbs_skin_new            influences are validated and arranged for vectors, joint sets found
 *   pose    every frame   within sbs_skin_deform  matrices to rotations and rotation centers, in double, and from these
 *                                                 a row of numbers for each joint
 *   deform  every vertex  within sbs_skin_deform  sums of its joints' rows to position and normal
 *
 * THREADS. Nothing changes a skin, so any number of threads may deform with one at once. Work of more than about 50
 * microseconds is shared by threads of the library, which use the floating-point mode of the calling thread. They start
 * when they are first needed, sleep between calls, and are started anew in a child process made by fork. See
 * sbs_set_threads.
 *
 * SAME RESULTS. On one machine a vertex gets the same bits whatever the number of threads, whatever the order of the
 * vertices, and whether a skin was edited (sbs_skin_update) or bound anew. Where there are other ways to one result,
 * such as an amount of 1 and no amounts, they agree to 1e-6 of the mesh's size for float32, and to 1e-13 for float64.
 *
 * ERRORS. Every function that can fail returns a sbs_status. It checks its input before it writes, and leaves all
 * outputs untouched unless it returns SBS_OK, with two exceptions: errors of which it is said, and calls that are
 * cancelled (sbs_set_progress). The optional sbs_fault says which argument was at fault, and where.
 *
 * NULL is an error for every pointer parameter that is not marked "or NULL".
 *
 * NAMES. In another header, sbs/NAME.h, all names begin with sbs_NAME or SBS_NAME. Functions that return defaults are
 * named after the type, sbs_default_skin_options.
 */
#ifndef SBS_SBS_H
#define SBS_SBS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Programs that link the static library on Windows must define SBS_STATIC, as sbs.pc (with --static) and the target of
 * CMake do. SBS_BUILDING is for the library itself: a list of exported names goes to the linker of its DLL, so that the
 * static library exports nothing from a program.
 */
#if defined(_WIN32)
#if defined(SBS_STATIC) || defined(SBS_BUILDING)
#define SBS_API
#else
#define SBS_API __declspec(dllimport)
#endif
#elif defined(__GNUC__)
#define SBS_API __attribute__((visibility("default")))
#else
#define SBS_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define SBS_VERSION_MAJOR 0
#define SBS_VERSION_MINOR 3
#define SBS_VERSION_PATCH 0

/* The version of the library that is loaded, as "major.minor.patch". A static string. */
SBS_API const char *sbs_version(void);

/*
 * How the loaded library was built, and which instructions it uses on this machine. All strings are static.
 *
 * Instruction sets are "avx512", "avx2", "baseline" (128-bit vectors) and "plain" (no vectors), where they were
 * compiled and the machine supports them. "plain" is compiled where there are no vectors, and with the C tests. A skin
 * uses the best one, unless the environment variable SBS_ISA names another when the skin is made.
 */
typedef struct sbs_build_info {
  const char *version;             /* as sbs_version */
  const char *instruction_set;     /* of skins that are made now */
  const char *instruction_sets[5]; /* all that can be used, best first; ends with NULL */
  const char *lapack;              /* "system" or "none" */
} sbs_build_info;

SBS_API sbs_build_info sbs_get_build_info(void);

/* The result of a function. sbs_status_string has a line of text for each. */
typedef enum sbs_status {
  SBS_OK = 0,
  SBS_ERROR_NULL,           /* a pointer that must not be NULL is */
  SBS_ERROR_EMPTY,          /* a count that must not be zero is */
  SBS_ERROR_TOO_LARGE,      /* a count, or the bytes that it asks for, can't be represented; a number is too large */
  SBS_ERROR_OPTION,         /* an option or enumerator out of its range, or one that needs data the skin lacks */
  SBS_ERROR_STRIDE,         /* a stride that is smaller than a row, or not a multiple of the scalar's size */
  SBS_ERROR_NOT_FINITE,     /* NaN or infinity where a finite number is needed */
  SBS_ERROR_NEGATIVE,       /* a negative number where none is allowed */
  SBS_ERROR_JOINT_INDEX,    /* a joint index outside [0, joint_count) */
  SBS_ERROR_VERTEX_INDEX,   /* a vertex index outside [0, vertex_count) */
  SBS_ERROR_PARENT,         /* a parent outside [-1, joint_count), or parents that run in a circle */
  SBS_ERROR_WEIGHT,         /* a vertex whose weights need repair, with `strict` */
  SBS_ERROR_NOT_AFFINE,     /* a 4x4 matrix whose last row is not (0, 0, 0, 1): row vectors? */
  SBS_ERROR_RADIUS,         /* an inner radius above its outer one */
  SBS_ERROR_UNWEIGHTED,     /* points without any weight, where the options make that an error */
  SBS_ERROR_OUT_OF_MEMORY,  /* the allocator returned NULL */
  SBS_ERROR_SCRATCH,        /* the scratch buffer is too small or not aligned */
  SBS_ERROR_NO_CONVERGENCE, /* a decomposition or an iteration did not converge */
  SBS_ERROR_INTERNAL,       /* LAPACK refused an argument: a defect of this library */
  SBS_ERROR_CANCELLED,      /* the caller's progress function asked to cancel */
  SBS_ERROR_NO_LAPACK,      /* no longer returned: all functions work without LAPACK */
  SBS_STATUS_COUNT          /* how many there are; never returned */
} sbs_status;

/*
 * The largest number, of either sign, of matrices, angles, joints and bones, and of examples, that fit.h, twist.h,
 * drag.h and muscles.h take; larger ones are SBS_ERROR_TOO_LARGE. These functions multiply and square them: so
 * none of their results is infinite or NaN.
 */
#define SBS_LARGEST 1e30

/* One line of English for a status; "unknown status" for any other number. A static string. */
SBS_API const char *sbs_status_string(sbs_status status);

/*
 * Sets how many threads share the work of a call whose own option `threads` is 0. Until it is called, and again after
 * it is called with 0, that is the number in the environment variable SBS_THREADS, a whole number from 1 that is read
 * once, or else the number of processors that the process may run on. Never more than 256.
 *
 *   threads  the most threads of each later call; 0: as above
 *
 * Errors: OPTION if it is negative. Any thread may call it at any time.
 */
SBS_API sbs_status sbs_set_threads(int threads);
SBS_API int sbs_get_threads(void);

/* Where the input was at fault. Written only by calls that fail. */
typedef struct sbs_fault {
  const char *argument; /* the name of the argument or field, a static string; NULL if no argument is at fault */
  size_t index[2];      /* row and column of the offending element (vertex and influence, joint and element, ...) */
  int index_count;      /* how many entries of index are set: 0, 1 or 2 */
  double value;         /* the offending value, if it is a single number; else 0 */
  double limit;         /* the limit that it broke (a count, a size), else 0 */
} sbs_fault;

/* The type of the numbers behind a `const void *`. */
typedef enum sbs_scalar {
  SBS_FLOAT32 = 0,
  SBS_FLOAT64 = 1
} sbs_scalar;

/*
 * Where memory comes from. `allocate` returns size bytes, aligned as by malloc, or NULL; `release` frees them and is
 * never called with NULL. Both are called on the thread that called the library, with no lock held. A skin keeps a copy
 * of its allocator, so `user` must outlive the skin.
 */
typedef struct sbs_allocator {
  void *(*allocate)(size_t size, void *user);
  void (*release)(void *memory, void *user);
  void *user;
} sbs_allocator;

/*
 * Called now and then, on the thread that called the library, with the fraction of the current step that is done,
 * about, from 0 to 1; a call may have several steps. Return 0 to continue; anything else cancels the call, which then
 * returns SBS_ERROR_CANCELLED. It may itself call the library; such calls report no progress.
 */
typedef int sbs_progress(double fraction, void *user);

/*
 * Sets a function that later calls of this thread report their progress to, and that can cancel them. Every function
 * that may take long supports it. Each thread has its own, at first none.
 *
 * A cancelled call leaves every object as it was, and makes none. Arrays may be written in part by those functions that
 * write as they go: sbs_skin_deform and its variants, sbs_gradient_deform, sbs_muscles_cover, sbs_capsules_weights and
 * its variant, sbs_influences_clean, sbs_influences_diffuse, sbs_twist_influences, sbs_drivers_weights,
 * sbs_surface_nearest, sbs_surface_blocked, sbs_surface_crossing, and those of sbs/mesh.h. Cleaning influences in place
 * is never cancelled.
 *
 *   progress  or NULL: calls run to their end
 *   user      passed to it
 */
SBS_API void sbs_set_progress(sbs_progress *progress, void *user);

/* ---------------------------------------------------------------------------------------------------------- bind -- */

/* A mesh, its skeleton at rest, and its weights. Only read during a call; nothing is kept. */
typedef struct sbs_skin_desc {
  size_t vertex_count;          /* V; 0 is SBS_ERROR_EMPTY */
  size_t joint_count;           /* J; 0 is SBS_ERROR_EMPTY */
  size_t influences_per_vertex; /* K; any number from 1 */

  sbs_scalar scalar;            /* of rest_positions and rest_normals; picks the kernels and the type of output */
  const void *rest_positions;   /* (V, 3), finite */
  size_t rest_positions_stride; /* bytes from vertex to vertex; 0: packed */
  const void *rest_normals;     /* (V, 3) or NULL, finite; of any length; zero normals stay zero */
  size_t rest_normals_stride;   /* bytes from vertex to vertex; 0: packed */

  const int32_t *joint_indices; /* (V, K), each in [0, J); pad with index 0 and weight 0 */
  sbs_scalar weight_scalar;     /* of joint_weights */
  const void *joint_weights;    /* (V, K), in any order; see sbs_weight_report for how bad ones are repaired */

  const int32_t *parents;        /* (J) or NULL; the parent of each joint, -1 for a root; in any order */
  const double *joint_positions; /* (J, 3) or NULL, finite; positions of the joints at bind, in the space of the mesh */
  const double *centers;         /* (V, 3) or NULL, finite; the centers of SBS_CENTER_OPTIMIZED, in the same space */

  const struct sbs_twist *twist; /* or NULL; spreads twists along bones of the same joints: sbs/twist.h */
  const void *twist_positions;   /* (V, 3) or NULL, finite; where the vertices are along those bones, as before blend
                                    shapes move them; of the type and stride of rest_positions, which NULL stands for */
} sbs_skin_desc;

/* A description with everything zero or NULL. */
SBS_API sbs_skin_desc sbs_default_skin_desc(void);

typedef struct sbs_skin_options {
  int strict;              /* not 0: weights that need repair are SBS_ERROR_WEIGHT instead; default 0 */
  double sum_tolerance;    /* a sum of weights further than this from 1 is counted as off_sum; default 1e-3 */
  sbs_allocator allocator; /* default: malloc and free */
} sbs_skin_options;

SBS_API sbs_skin_options sbs_default_skin_options(void);

/*
 * How many vertices were repaired, by kind; a vertex counts once in every kind that applies to it. With `strict` the
 * first such vertex is SBS_ERROR_WEIGHT. Weights are always divided by their sum, so that they sum to 1 in double.
 */
typedef struct sbs_weight_report {
  size_t nan;        /* NaN weights: dropped */
  size_t infinite;   /* infinite weights: dropped */
  size_t negative;   /* negative weights: dropped */
  size_t unweighted; /* no positive weight left: the vertex stays at its rest position, whatever the pose */
  size_t off_sum;    /* a sum further than sum_tolerance from 1: normalized */
  size_t duplicate;  /* one joint more than once with a positive weight: merged, weights added */
} sbs_weight_report;

/* A mesh that is bound to its joints. Immutable. */
typedef struct sbs_skin sbs_skin;

/*
 * Binds a mesh: validates and normalizes its influences, finds its joint sets, and arranges influences for 16 vertices
 * at a time, in the caller's order. O(V K) time; about 60 + 12 K bytes a vertex of float32 stay allocated.
 *
 *   desc     the mesh; may be released afterwards
 *   options  or NULL for the defaults
 *   skin     receives the new skin; release it by sbs_skin_free
 *   report   or NULL; receives the count of repaired vertices
 *   fault    or NULL
 *
 * Errors: NULL, EMPTY, TOO_LARGE, OPTION, STRIDE, NOT_FINITE, JOINT_INDEX, PARENT, WEIGHT, OUT_OF_MEMORY, CANCELLED.
 */
SBS_API sbs_status sbs_skin_new(const sbs_skin_desc *desc, const sbs_skin_options *options, sbs_skin **skin,
                                sbs_weight_report *report, sbs_fault *fault);

/*
 * Checks a mesh and its weights as sbs_skin_new does, with the same report and errors, but makes no skin. Faster.
 *
 *   desc, options, report, fault  as in sbs_skin_new
 *
 * Errors: as sbs_skin_new.
 */
SBS_API sbs_status sbs_skin_check(const sbs_skin_desc *desc, const sbs_skin_options *options, sbs_weight_report *report,
                                  sbs_fault *fault);

/*
 * Binds a mesh again after the weights of some vertices have changed. The result deforms as that of sbs_skin_new for
 * the new description, in a fraction of the time: influences of other vertices are not read and repaired again. O(V)
 * time.
 *
 *   skin          the mesh before the change; it is not modified
 *   desc          the mesh after the change. Only joint_indices, joint_weights, their type and their width may differ
 *                 from the description of `skin`, and only the influences of `vertices`; others are
 *                 not checked again
 *   vertices      (vertex_count) the vertices that may have changed, in any order, repeated or not; NULL if none
 *   vertex_count  how many
 *   options       or NULL for the defaults; sum_tolerance should be that of `skin`, for the report
 *   updated       receives the new skin; release both by sbs_skin_free, in any order
 *   report        or NULL; counts the repaired vertices of the whole mesh, not of `vertices` alone
 *   fault         or NULL
 *
 * Errors: as sbs_skin_new, and VERTEX_INDEX; OPTION if the mesh is not that of `skin`.
 */
SBS_API sbs_status sbs_skin_update(const sbs_skin *skin, const sbs_skin_desc *desc, const int32_t *vertices,
                                   size_t vertex_count, const sbs_skin_options *options, sbs_skin **updated,
                                   sbs_weight_report *report, sbs_fault *fault);

/* Releases a skin. NULL does nothing. No other thread may be using it. */
SBS_API void sbs_skin_free(sbs_skin *skin);

typedef struct sbs_skin_info {
  size_t vertex_count;               /* V */
  size_t joint_count;                /* J */
  size_t twist_bone_count;           /* B of its twist; 0 without */
  size_t joint_set_count;            /* N: distinct sets of joints that influence a vertex */
  size_t joint_set_size_sum;         /* sum of their sizes: the length of the `joints` of sbs_skin_joint_sets */
  size_t nontrivial_joint_set_count; /* sets of more than one joint that are not just a joint and its parent */
  size_t unweighted_vertex_count;    /* vertices of the empty joint set */
  size_t max_influences;             /* the size of the largest joint set */
  size_t memory;                     /* bytes held by the skin */
  sbs_scalar scalar;                 /* of positions and normals */
  int has_normals;                   /* whether it was made with rest normals */
  int has_centers;                   /* whether it was made with rotation centers for its vertices */
  const char *instruction_set;       /* of its kernels: see sbs_build_info */
} sbs_skin_info;

/* Describes a skin. Errors: NULL. */
SBS_API sbs_status sbs_skin_get_info(const sbs_skin *skin, sbs_skin_info *info);

/*
 * The joint sets in use, in lexicographic order.
 *
 *   offsets  (N + 1)               the joints of set s are joints[offsets[s]] to joints[offsets[s + 1] - 1]
 *   joints   (joint_set_size_sum)  ascending within a set; the set of unweighted vertices is empty and comes first.
 *                                  With a twist, the frames of its bones follow the J joints of the skeleton
 *
 * Errors: NULL.
 */
SBS_API sbs_status sbs_skin_joint_sets(const sbs_skin *skin, size_t *offsets, int32_t *joints);

/* The joint set of every vertex: sets (V), each in [0, N). Errors: NULL. */
SBS_API sbs_status sbs_skin_joint_set_of_vertex(const sbs_skin *skin, int32_t *sets);

/*
 * The influences that a skin blends, for programs that blend themselves, such as shaders: the heaviest first, whose
 * quaternion the signs of the others go by; of equal weights the lower joint. They are repaired and normalized as by
 * sbs_skin_new. With a twist they are influences of the frames of its bones as well.
 *
 *   width    W, from 1: room for so many. A vertex that has more loses the lightest, and the rest is normalized
 *            again
 *   joints   (V, W); a vertex that has fewer is padded with its heaviest joint, one without any with joint 0
 *   weights  (V, W), rounded; padded with 0
 *   lost     or NULL; receives the largest sum of weights that a vertex lost, 0 if W is max_influences
 *   fault    or NULL
 *
 * Errors: NULL, EMPTY (no width), OUT_OF_MEMORY.
 */
SBS_API sbs_status sbs_skin_influences(const sbs_skin *skin, size_t width, int32_t *joints, float *weights,
                                       double *lost, sbs_fault *fault);

/* ---------------------------------------------------------------------------------------------------------- pose -- */

/*
 * The skinning matrices of one frame, or of several one after the other. Joints need not be rigid:
 *
 *   rigid          |A^T A - I| <= 1e-5 (Frobenius) and det A > 0, A the 3x3 part. The rotation methods then use the
 *                  nearest rotation R in its place; the linear ones use A as given.
 *   scaled, sheared  A = R S, S symmetric, det R = +1; the rotation methods blend R on the sphere and S linearly.
 *   mirrored       det A < 0: R = -U and S = -P of the polar form A = U P, so that a wholly mirrored character deforms
 *                  as the mirror image; a vertex between mirrored and plain joints comes out finite but unspecified.
 *   singular       a joint scaled to zero takes R from the singular value decomposition.
 *
 * Rotation centers of joints that are not rigid follow from their rotations R_i alone: a joint moves a point f to C_i
 * f, stretches v - f by S_i, and rotates the result by R_i. With z the vector from f to the center,
 *
 *     v' = Q (sum_i w_i S_i (v - f) - z) + sum_i w_i (R_i z + C_i f),
 *
 * which is the formula at the top, with c = f + z, if all S_i are 1. So centers stay as near to the mesh as with rigid
 * joints, and results as near to linear blending. The point f depends on the center:
 *
 *   JOINT_SET  of a joint and its parent, the joint's position; of other sets, the mean position of their joints. The
 *              mean rest position of the set's vertices if the skin was made without joint positions
 *   WEIGHTED   the vertex
 *   OPTIMIZED  the center, so z = 0
 */
typedef struct sbs_pose {
  const void *skinning_matrices; /* (J, 3, 4), or (J, 4, 4) with last rows (0, 0, 0, 1); finite */
  sbs_scalar scalar;             /* need not be that of the skin */
  size_t rows;                   /* 3 or 4 */
  const double *twist_angles;    /* (B, 2), one frame after the other, or NULL: found from the matrices. The angles of
                                    sbs_twist_angles, of a skin with a twist; SBS_ERROR_OPTION without */
} sbs_pose;

/*
 * The choice of Q and c in the formula above.
 *
 *   RIGID            v' = C_p v with p the vertex's heaviest joint (ties: the lowest index), C as given
 *   LINEAR           linear blend skinning, eq. (1): v' = sum w_i C_i v
 *   SPHERICAL        spherical blend skinning: Q by `rotation`, c by `center`
 *   DUAL_QUATERNION  dual quaternion linear blending (Kavan et al. 2007). A joint that is not rigid is replaced, for
 *                    each vertex, by the rigid motion that rotates by R_i and takes the vertex where C_i does
 */
typedef enum sbs_method {
  SBS_METHOD_RIGID = 0,
  SBS_METHOD_LINEAR = 1,
  SBS_METHOD_SPHERICAL = 2,
  SBS_METHOD_DUAL_QUATERNION = 3
} sbs_method;

/*
 * How SBS_METHOD_SPHERICAL blends rotations. They are quaternions whose signs are chosen so that (q_p, q_i) >= 0, p the
 * heaviest joint.
 *
 *   QLERP    eqs. (4) to (6): sum w_i q_i, normalized
 *   AVERAGE  the spherical weighted average, where sum w_i log(q* q_i) = 0 (Buss and Fillmore 2001, algorithm A2). Of
 *            two quaternions that is spherical linear interpolation. It is found by Newton's iteration that starts at
 *            the QLERP and ends with a step of at most 2^-28; the error is about the square of that. That takes one to
 *            four steps, at most 12. Where a quaternion is more than 90 degrees from the average (the joint more than
 *            180), steps are shorter, end at 2^-50, and are at most 40. Of two joints it takes little
 *            longer than QLERP, of more some 20 times as long.
 *
 *   Buss, S. R. and Fillmore, J. P. 2001. Spherical Averages and Applications to Spherical Splines and Interpolation.
 *   ACM Transactions on Graphics 20(2).
 */
typedef enum sbs_rotation {
  SBS_ROTATION_QLERP = 0,
  SBS_ROTATION_AVERAGE = 1
} sbs_rotation;

/*
 * Where SBS_METHOD_SPHERICAL puts the rotation center.
 *
 *   JOINT_SET  section 4: one for each joint set and pose, the point that the joints of the set move most alike. The
 *              mesh may tear between vertices of different sets
 *   WEIGHTED   one for each vertex and pose, the point that its joints move most alike, each pair of joints counted by
 *              its weights:
 *              c = v + z, z = argmin sum_{a<b} w_a w_b (|(R_a z + C_a v) - (R_b z + C_b v)|^2 + damping |z|^2)
 *              so that nothing jumps where an influence fades out. The damping is at least SBS_WEIGHTED_DAMPING
 *   OPTIMIZED  one for each vertex, the same in every pose: the `centers` that the skin was made with, such as
 *              optimized centers of rotation (Le and Hodgins 2016) or, for two influences, the joint between.
 *              SBS_ERROR_OPTION if it has none. For a vertex that is its own center the formula is linear blending; its
 *              normal is then blended linearly too, at no more cost
 *
 *   Le, B. H. and Hodgins, J. K. 2016. Real-time Skeletal Skinning with Optimized Centers of Rotation. ACM Transactions
 *   on Graphics 35(4).
 */
typedef enum sbs_center {
  SBS_CENTER_JOINT_SET = 0,
  SBS_CENTER_WEIGHTED = 1,
  SBS_CENTER_OPTIMIZED = 2
} sbs_center;

/* The least damping of weighted centers: with less, float32 could not tell it from rounding. */
#define SBS_WEIGHTED_DAMPING 1e-6

typedef struct sbs_deform_options {
  sbs_method method;     /* default SBS_METHOD_SPHERICAL */
  sbs_rotation rotation; /* default SBS_ROTATION_QLERP */
  sbs_center center;     /* default SBS_CENTER_JOINT_SET */

  /*
   * The rotation center of a joint set is c = argmin mean_{a<b} |C_a c - C_b c|^2 + damping |c - c0|^2, c0 the mean
   * rest position of the set's vertices; where joints are not rigid (sbs_pose), f + z with z = argmin mean_{a<b}
   * |(R_a z + C_a f) - (R_b z + C_b f)|^2 + damping |z|^2. Damping has no unit; it makes c unique, and continuous in
   * the pose, whatever the rank of the equations. Default 1e-8; must be positive. Weighted centers take
   * SBS_WEIGHTED_DAMPING for less. It takes at most sqrt(damping) / 16 of the translation between two joints from
   * where a vertex goes, and that only if they turn against each other by sqrt(damping) radians.
   */
  double damping;
  /*
   * Not 0: the truncated singular value decomposition of the paper instead, with minimal |c - c0|. Singular
   * values of the equations (scaled as above) up to 1e-5 are dropped, then those up to rcond times the largest. The
   * center jumps where a singular value crosses that limit; 1e-3 is a good value. Default 0; must be in [0, 1). For
   * SBS_CENTER_JOINT_SET only. A whole frame takes 8 to 18 times as long. The paper names no limit, and takes the
   * center of minimal |c|, which depends on where the origin is.
   */
  double rcond;

  /*
   * How much of SPHERICAL or DUAL_QUATERNION each vertex gets, the rest being linear: v' = (1 - a) linear + a this,
   * where linear blending moves a rigid joint by the rotation R that this method has in place of A. Normals are blended
   * in the same way and normalized. NULL (default): this method alone. Centers of joint sets whose vertices all have 0
   * are not solved.
   */
  const void *amount;       /* (V) in [0, 1], or NULL */
  sbs_scalar amount_scalar; /* of amount; default SBS_FLOAT32 */

  /*
   * Other rest positions, such as the shape keys of a frame make, or NULL (default): as in the skin. Normals,
   * centers, centroids and places along the bones of a twist stay as in the skin; a vertex that was
   * bound as its own center stays blended linearly.
   */
  const void *rest_positions;   /* (V, 3) of the skin's scalar type, finite, or NULL */
  size_t rest_positions_stride; /* bytes from vertex to vertex; 0 (default): packed */

  /* Shapes that are added to the rest pose before it is deformed (sbs/shapes.h), or NULL (default). */
  const struct sbs_shapes *shapes; /* of this skin, else SBS_ERROR_OPTION */
  const double *shape_weights;     /* (frames, S) finite, up to SBS_LARGEST; needed with shapes */

  int threads;             /* 0 (default): as many as sbs_get_threads says; never more than the work is worth */
  size_t positions_stride; /* bytes from vertex to vertex of the output; 0 (default): packed */
  size_t normals_stride;   /* the same for the normals */

  /*
   * Memory for the call, aligned to 64 bytes, so that it allocates none; NULL (default): it allocates. At least
   * sbs_skin_scratch_size bytes, and sbs_shapes_scratch_size with shapes. Several frames are
   * processed at once only if there is that much for each.
   */
  void *scratch;
  size_t scratch_size;
} sbs_deform_options;

SBS_API sbs_deform_options sbs_default_deform_options(void);

/* How much work a call was, counted as in the paper's Table 2. */
typedef struct sbs_deform_report {
  size_t nontrivial_joint_sets; /* sets of more than one joint that are not just a joint and its parent */
  size_t solves;                /* least-squares solves for rotation centers of joint sets, over all frames */
  size_t nonrigid_joints;       /* joints that are not rigid, over all frames */
} sbs_deform_report;

/* Bytes of scratch that one deformation, by any method, needs with this skin. 0 if skin is NULL. */
SBS_API size_t sbs_skin_scratch_size(const sbs_skin *skin);

/* -------------------------------------------------------------------------------------------------------- deform -- */

/*
 * Deforms the mesh: skinning matrices in, positions out. Normals, where asked for, are
 *
 *   rigid               n' = C_p^-T n                   (R_p n for a rigid joint)
 *   linear              n' = sum w_i C_i^-T n           (R_i n for rigid joints)
 *   spherical, dual q.  n' = Q (sum w_i S_i^-1) n       (Q n for rigid joints)
 *
 * with the adjugate in place of the inverse of a singular matrix. They are of unit length, or zero where n is zero or
 * joints that are scaled to zero leave nothing of it.
 *
 *   skin       from sbs_skin_new
 *   pose       the matrices of one frame
 *   options    or NULL for the defaults
 *   positions  (V, 3) of the skin's scalar type; receives the positions in the caller's vertex order
 *   normals    (V, 3) or NULL; SBS_ERROR_OPTION if the skin has no rest normals
 *   report     or NULL
 *   fault      or NULL
 *
 * Accuracy on real characters, compared with exact arithmetic on the same input, as a share of the mesh's size: 1e-12
 * for float64; for float32 half an ulp of the output plus 1e-6 (spherical) or 2e-7 (others), times the largest stretch
 * where joints are not rigid. Vertices that turn about centers further away than twice the mesh's size are computed in
 * double. Weighted centers of joints that turn about nearly one axis and slide along it by the mesh's size: 5e-6.
 *
 * Errors: NULL, OPTION, STRIDE, NOT_FINITE, TOO_LARGE (of weights of shapes), NOT_AFFINE, OUT_OF_MEMORY, CANCELLED,
 * SCRATCH, NO_CONVERGENCE, INTERNAL.
 */
SBS_API sbs_status sbs_skin_deform(const sbs_skin *skin, const sbs_pose *pose, const sbs_deform_options *options,
                                   void *positions, void *normals, sbs_deform_report *report, sbs_fault *fault);

/*
 * The same for several frames. All input is checked before anything is written. If a later frame fails with
 * NO_CONVERGENCE or INTERNAL, which no known input causes, positions and normals of other frames have already been
 * written.
 *
 *   frame_count  F; 0 does nothing
 *   poses        matrices (F, J, rows, 4)
 *   positions    (F, V, 3); with a stride, frame f starts at f * V * stride bytes
 *   normals      (F, V, 3) or NULL
 */
SBS_API sbs_status sbs_skin_deform_many(const sbs_skin *skin, size_t frame_count, const sbs_pose *poses,
                                        const sbs_deform_options *options, void *positions, void *normals,
                                        sbs_deform_report *report, sbs_fault *fault);

/*
 * The rotation centers of joint sets in a pose, as for SBS_CENTER_JOINT_SET whatever center the options name.
 *
 *   centers  (N, 3) double, in the space of the rest positions: f + z of sbs_pose; if joints are not rigid, f + z / s,
 *            s^2 the mean of their squared scales (a third of the sum of squares of a matrix's 3x3 part). A set of one
 *            joint, and the empty set, have no center and get the mean rest position of their vertices.
 *
 * Errors: as sbs_skin_deform.
 */
SBS_API sbs_status sbs_skin_rotation_centers(const sbs_skin *skin, const sbs_pose *pose,
                                             const sbs_deform_options *options, double *centers,
                                             sbs_deform_report *report, sbs_fault *fault);

/* ------------------------------------------------------------------------------------------------------- palette -- */

/* The joints of a palette that are not rigid, over all frames. */
typedef struct sbs_palette_report {
  size_t scaled_joints;    /* A = s R, s > 0: scaled by one factor, within 1e-5 of it */
  size_t stretched_joints; /* all others */
} sbs_palette_report;

/*
 * Poses for shaders, many at once, prepared in double and rounded. docs/deformer.md has the shader.
 *
 * With J' the joints of the skeleton and the frames of a twist, a joint's 16 numbers are the rows of C, (x, y, z,
 * translation) each, then R as a quaternion (x, y, z, w) of either sign, times the root of the scale |det A|^(1/3). In
 * C, A is as given for LINEAR; other methods have R in its place, if the joint is rigid. Results agree with
 * sbs_skin_deform to rounding in float32, where joints are rigid; where they are not, positions are
 *
 *   SBS_CENTER_WEIGHTED   the same
 *   SBS_CENTER_OPTIMIZED  the same if no joint is stretched
 *   SBS_CENTER_JOINT_SET  the same if no joint is stretched, and the joints of each set are scaled alike
 *
 * and normals are the same if no joint is stretched, and for LINEAR or with an amount if also the joints of a
 * vertex are scaled alike.
 *
 *   frame_count  F; 0 does nothing
 *   poses        matrices (F, J, rows, 4)
 *   options      or NULL for the defaults; method, damping, rcond, threads and scratch are read
 *   joints       (F, J', 16)
 *   centers      (F, N, 4) or NULL; the rotation centers of joint sets, as of sbs_skin_rotation_centers, then 0
 *   report       or NULL
 *   fault        or NULL
 *
 * Errors: as sbs_skin_deform.
 */
SBS_API sbs_status sbs_pose_palette(const sbs_skin *skin, size_t frame_count, const sbs_pose *poses,
                                    const sbs_deform_options *options, float *joints, float *centers,
                                    sbs_palette_report *report, sbs_fault *fault);

/* ------------------------------------------------------------------------------------------------------- inverse -- */

/*
 * Undoes a deformation: posed positions in, rest positions out. For given weights every method moves a vertex by an
 * affine map, v' = A v + b, and this inverts it. So the result of sbs_skin_deform with the same pose and options
 * becomes v again, and a shape that was sculpted on the posed mesh becomes one to deform.
 *
 * A vertex has no inverse if its joints flatten it: if |det A| <= 16 eps |A|^3, or if rounding of its posed position p
 * and of A may move its rest position by more than a thousandth of the mesh's size,
 *
 *     eps (|p| + |p - m| + |A| size) |A^-1| > size / 1000
 *
 * with Frobenius norms, eps of the skin's type, m where the pose takes the middle of the mesh, and size the diagonal of
 * the box around the rest positions and the origin. Such a vertex gets the rest position that the skin was made with.
 *
 *   skin             from sbs_skin_new
 *   pose             the matrices of the frame
 *   options          of the deformation, or NULL for the defaults; positions_stride is that of rest_positions,
 *                    normals_stride is ignored. SBS_ERROR_OPTION with options.rest_positions, which would be ignored
 *   posed_positions  (V, 3) of the skin's scalar type, finite, in the caller's vertex order
 *   posed_stride     bytes from vertex to vertex; 0: packed
 *   rest_positions   (V, 3) of the skin's scalar type; may be posed_positions itself, with the same stride
 *   singular         (V) or NULL; receives 1 for each vertex without an inverse, else 0
 *   singular_count   or NULL; receives how many there are
 *   fault            or NULL
 *
 * Accuracy on real characters where A is a rotation or nearly so, as a share of the mesh's size: 1e-6 for float32,
 * 1e-12 for float64; |A| |A^-1| times as much where it is not.
 *
 * Errors: as sbs_skin_deform.
 */
SBS_API sbs_status sbs_skin_inverse_deform(const sbs_skin *skin, const sbs_pose *pose,
                                           const sbs_deform_options *options, const void *posed_positions,
                                           size_t posed_stride, void *rest_positions, unsigned char *singular,
                                           size_t *singular_count, sbs_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
