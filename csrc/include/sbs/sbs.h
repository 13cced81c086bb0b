/* SPDX-License-Identifier: MIT */
/*
 * libsbs: skinning of meshes by their skeletons.
 *
 * Skinning moves the vertices of a mesh with the joints of a skeleton. Everything that this library deforms is one
 * formula, for a vertex v with influences (j_i, w_i), sum w_i = 1:
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
 *   units        the caller's; nothing here has a scale of its own
 *   shapes       (V, 3) means V rows of 3 numbers, packed unless a stride says otherwise; V vertices, J joints,
 *                K influences per vertex, N joint sets, F frames
 *   spaces       rest positions, joint positions and rotation centers are in the space in which the mesh was bound;
 *                skinning matrices map from there to the space of the deformed positions
 *
 * THE WAY OF THE DATA
 *
 *   bind    once          sbs_skin_new            influences are validated, joint sets found, vertices packed in blocks
 *   pose    every frame   within sbs_skin_deform  matrices to rotations, rotation centers and constants, in double
 *   deform  every vertex  within sbs_skin_deform  positions and normals, in the caller's vertex order
 *
 * THREADS. A skin never changes after sbs_skin_new, so any number of threads may deform with one skin at once. No
 * result depends on the number of threads, not even in its last bit; all work in the floating-point mode of the one
 * that calls. Work is shared that takes longer than about 50 microseconds, by threads of the library's own: they start
 * when they are first needed, sleep in between, and are started anew in a child process made by fork. See
 * sbs_set_threads.
 *
 * ERRORS. Every function that can fail returns a sbs_status, checks its input before it writes, and leaves all outputs
 * untouched unless it returns SBS_OK; of sbs_skin_deform_many see there, of calls that are given up sbs_set_progress.
 * The optional sbs_fault says which argument was at fault, and where.
 *
 * NULL is an error for every pointer parameter that is not marked "or NULL".
 *
 * NAMES. What another header, sbs/NAME.h, declares begins with sbs_NAME or SBS_NAME. Functions that return defaults are
 * named after the type, sbs_default_skin_options.
 */
#ifndef SBS_SBS_H
#define SBS_SBS_H

#include <stddef.h>
#include <stdint.h>

/*
 * SBS_STATIC is to be defined by who links the static library; sbs.pc (with --static) and the target of CMake do it. It
 * means something on Windows alone. SBS_BUILDING is the library's own: its DLL is linked by a list of what is exported,
 * so that the static library exports nothing from the programs that it is in.
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
#define SBS_VERSION_MINOR 2
#define SBS_VERSION_PATCH 0

/* The version of the library that is loaded, as "major.minor.patch". A static string. */
SBS_API const char *sbs_version(void);

/*
 * How the library that is loaded was built, and what it does on this machine. All strings are static.
 *
 * Instruction sets are "avx512", "avx2", "baseline" (128-bit vectors) and "plain" (none), as far as they were compiled
 * and the machine has them. The best is used, unless the environment variable SBS_ISA names another when a skin is
 * made.
 */
typedef struct sbs_build_info {
  const char *version;             /* as sbs_version */
  const char *instruction_set;     /* of skins that are made now */
  const char *instruction_sets[5]; /* all that there are here, best first; ends with NULL */
  const char *lapack;              /* "bundled" (OpenBLAS of scipy-openblas32) or "system" */
} sbs_build_info;

SBS_API sbs_build_info sbs_get_build_info(void);

/* What the functions return. sbs_status_string has a line of text for each. */
typedef enum sbs_status {
  SBS_OK = 0,
  SBS_ERROR_NULL,           /* a pointer that must not be NULL is */
  SBS_ERROR_EMPTY,          /* a count that must not be zero is */
  SBS_ERROR_TOO_LARGE,      /* a count, or the bytes that it asks for, can't be represented */
  SBS_ERROR_OPTION,         /* an option or enumerator out of its range, or one that needs data the skin has not */
  SBS_ERROR_STRIDE,         /* a stride that is smaller than a row, or no multiple of the scalar */
  SBS_ERROR_NOT_FINITE,     /* NaN or infinity where a number is needed */
  SBS_ERROR_NEGATIVE,       /* a number below zero where there must be none */
  SBS_ERROR_JOINT_INDEX,    /* a joint index outside [0, joint_count) */
  SBS_ERROR_VERTEX_INDEX,   /* a vertex index outside [0, vertex_count) */
  SBS_ERROR_PARENT,         /* a parent outside [-1, joint_count), or parents that run in a circle */
  SBS_ERROR_WEIGHT,         /* a vertex whose weights need repair, under `strict` */
  SBS_ERROR_NOT_AFFINE,     /* a 4x4 matrix whose last row is not (0, 0, 0, 1): row vectors? */
  SBS_ERROR_RADIUS,         /* an inner radius above its outer one */
  SBS_ERROR_UNWEIGHTED,     /* points that get no weight, where that is an error */
  SBS_ERROR_OUT_OF_MEMORY,  /* the allocator returned NULL */
  SBS_ERROR_SCRATCH,        /* the scratch buffer is too small or not aligned */
  SBS_ERROR_NO_CONVERGENCE, /* LAPACK: a singular value decomposition did not converge */
  SBS_ERROR_INTERNAL,       /* LAPACK refused an argument: a defect of this library */
  SBS_ERROR_CANCELLED,      /* the caller's progress function asked to give up */
  SBS_STATUS_COUNT          /* how many there are; never returned */
} sbs_status;

/* One line of English for a status; "unknown status" for any other number. A static string. */
SBS_API const char *sbs_status_string(sbs_status status);

/*
 * How many threads share the work of calls whose own option `threads` is 0: as many as the environment variable
 * SBS_THREADS says when it is first needed, a whole number from 1, or else as there are processors that the process may
 * run on; never more than 256.
 *
 *   threads  at most so many, of all calls from now on; 0: as above
 *
 * Errors: OPTION where it is negative. Any thread may call it at any time.
 */
SBS_API sbs_status sbs_set_threads(int threads);
SBS_API int sbs_get_threads(void);

/* Where the input was at fault. Written only by calls that fail. */
typedef struct sbs_fault {
  const char *argument; /* the name of the argument or field, a static string; NULL where none is to blame */
  size_t index[2];      /* row and column of the offending element (vertex and influence, joint and element, ...) */
  int index_count;      /* how many entries of index mean something: 0, 1 or 2 */
  double value;         /* the offending value, where there is one number to show; else 0 */
  double limit;         /* what it was held against (a count, a size), else 0 */
} sbs_fault;

/* The type of the numbers behind a `const void *`. */
typedef enum sbs_scalar {
  SBS_FLOAT32 = 0,
  SBS_FLOAT64 = 1
} sbs_scalar;

/*
 * Where memory comes from. `allocate` returns size bytes, aligned as malloc aligns, or NULL; `release` takes back what
 * it gave and is never called with NULL. Both are called by the thread that called the library, with no lock held. A
 * skin keeps a copy of its allocator: `user` must outlive it.
 */
typedef struct sbs_allocator {
  void *(*allocate)(size_t size, void *user);
  void (*release)(void *memory, void *user);
  void *user;
} sbs_allocator;

/*
 * Called now and then by the thread that called the library, with about how much is done of the step at hand, from 0 to
 * 1; a call may have several steps. Returns 0 to go on: for anything else the call gives up, and returns
 * SBS_ERROR_CANCELLED. It may call the library, too; what it calls tells nobody.
 */
typedef int sbs_progress(double fraction, void *user);

/*
 * Has the calling thread's calls, from now on, tell a function of their progress, so that they can be given up: every
 * function that may take long does. Other threads have their own, or none.
 *
 * A call that is given up leaves every object as it was, and makes none. Arrays that are written as the work goes on
 * (by sbs_skin_deform and its like, the weights of capsules, sbs_influences_clean, sbs_surface_nearest and
 * sbs_surface_blocked, and what sbs/mesh.h and sbs_mesh_curvature tell of a mesh) may be written in part; influences
 * that are cleaned in place are not, for that is not given up.
 *
 *   progress  or NULL (at first): calls run to their end
 *   user      what it is called with
 */
SBS_API void sbs_set_progress(sbs_progress *progress, void *user);

/* ---------------------------------------------------------------------------------------------------------- bind -- */

/* A mesh, its skeleton as far as skinning needs it, and its weights. Read by sbs_skin_new alone; nothing is kept. */
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
  const void *joint_weights;    /* (V, K), in any order; see sbs_weight_report for what is done to bad ones */

  const int32_t *parents;        /* (J) or NULL; the parent of each joint, -1 for a root; in any order */
  const double *joint_positions; /* (J, 3) or NULL, finite; positions of the joints at bind, in the space of the mesh */
  const double *centers; /* (V, 3) or NULL, finite; what SBS_CENTER_OPTIMIZED turns every vertex about, likewise */
} sbs_skin_desc;

/* A description with everything zero or NULL. */
SBS_API sbs_skin_desc sbs_default_skin_desc(void);

typedef struct sbs_skin_options {
  int strict;              /* not 0: weights that would need a repair are SBS_ERROR_WEIGHT instead; default 0 */
  double sum_tolerance;    /* how far from 1 a sum of weights may be before it is counted; default 1e-3 */
  sbs_allocator allocator; /* default: malloc and free */
} sbs_skin_options;

SBS_API sbs_skin_options sbs_default_skin_options(void);

/*
 * How many vertices were repaired, by kind; a vertex counts once in every kind that it shows. Under `strict` the first
 * such vertex is SBS_ERROR_WEIGHT. Whatever their sum, weights are divided by it: they sum to 1 in double.
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
 * Binds a mesh: validates and normalizes its influences, finds its joint sets, and packs its vertices in blocks of one
 * joint set and one heaviest joint. O(V K) time; about 40 bytes a vertex of float32 stay allocated.
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
 * Says what sbs_skin_new would say of a mesh, in a part of the time, and makes no skin.
 *
 *   desc, options, report, fault  as in sbs_skin_new
 *
 * Errors: as sbs_skin_new.
 */
SBS_API sbs_status sbs_skin_check(const sbs_skin_desc *desc, const sbs_skin_options *options, sbs_weight_report *report,
                                  sbs_fault *fault);

/*
 * Binds a mesh whose weights have changed at some vertices: gives, bit for bit, what sbs_skin_new gives for the new
 * description, in a fraction of the time. What is near a change is computed anew (tiles of 16384 vertices, and the sets
 * that gained or lost a vertex), the rest is copied. O(V) time.
 *
 *   skin          the mesh as it was; remains as it is
 *   desc          the mesh as it is now. Only joint_indices, joint_weights, their type and their width may differ from
 *                 the description of `skin`, and only the influences of `vertices`; of the others nothing is checked
 *                 again
 *   vertices      (vertex_count) those that may have changed, in any order, repeated or not; NULL if there are none
 *   vertex_count  how many
 *   options       or NULL for the defaults; sum_tolerance as for `skin`, for the report
 *   updated       receives the new skin; release both by sbs_skin_free, in any order
 *   report        or NULL; the repaired vertices of all, not only of those that changed
 *   fault         or NULL
 *
 * Errors: as sbs_skin_new, and VERTEX_INDEX; OPTION where the mesh is another one.
 */
SBS_API sbs_status sbs_skin_update(const sbs_skin *skin, const sbs_skin_desc *desc, const int32_t *vertices,
                                   size_t vertex_count, const sbs_skin_options *options, sbs_skin **updated,
                                   sbs_weight_report *report, sbs_fault *fault);

/* Releases a skin. NULL does nothing. No other thread may be using it. */
SBS_API void sbs_skin_free(sbs_skin *skin);

typedef struct sbs_skin_info {
  size_t vertex_count;               /* V */
  size_t joint_count;                /* J */
  size_t joint_set_count;            /* N: distinct sets of joints that influence some vertex */
  size_t joint_set_size_sum;         /* sum of their sizes: the length of the `joints` of sbs_skin_joint_sets */
  size_t nontrivial_joint_set_count; /* of those, sets of more than one joint that are not a joint and its parent */
  size_t unweighted_vertex_count;    /* vertices of the empty joint set */
  size_t max_influences;             /* the size of the largest joint set */
  size_t memory;                     /* bytes held by the skin */
  sbs_scalar scalar;                 /* of positions and normals */
  int has_normals;                   /* whether it was made with rest normals */
  int has_centers;                   /* whether it was made with rotation centers for its vertices */
  const char *instruction_set;       /* what it computes with: see sbs_build_info */
} sbs_skin_info;

/* What a skin holds. Errors: NULL. */
SBS_API sbs_status sbs_skin_get_info(const sbs_skin *skin, sbs_skin_info *info);

/*
 * The joint sets in use, in lexicographic order.
 *
 *   offsets  (N + 1)               the joints of set s are joints[offsets[s]] to joints[offsets[s + 1] - 1]
 *   joints   (joint_set_size_sum)  ascending within a set; the set of unweighted vertices is empty and comes first
 *
 * Errors: NULL.
 */
SBS_API sbs_status sbs_skin_joint_sets(const sbs_skin *skin, size_t *offsets, int32_t *joints);

/* The joint set of every vertex: sets (V), each in [0, N). Errors: NULL. */
SBS_API sbs_status sbs_skin_joint_set_of_vertex(const sbs_skin *skin, int32_t *sets);

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
 * The rotation centers of joints that are not rigid are those of their rotations: a joint carries a point f to C_i f,
 * and turns what its stretch made of v - f. With z from f to the center,
 *
 *     v' = Q (sum_i w_i S_i (v - f) - z) + sum_i w_i (R_i z + C_i f),
 *
 * which is the formula at the top, with c = f + z, where all S_i are 1. So centers are as near as those of rigid
 * joints, and results as near to linear blending. The point f of a joint set is where the joints sit: of a joint and
 * its parent that joint's position, of others the mean of theirs, and the mean rest position of the set's vertices if
 * the skin was made without joint positions; of WEIGHTED centers it is the vertex, of OPTIMIZED ones the center, with
 * z = 0.
 */
typedef struct sbs_pose {
  const void *skinning_matrices; /* (J, 3, 4), or (J, 4, 4) with last rows (0, 0, 0, 1); finite */
  sbs_scalar scalar;             /* either type goes with either type of skin */
  size_t rows;                   /* 3 or 4 */
} sbs_pose;

/*
 * The choice of Q and c in the formula above.
 *
 *   RIGID            v' = C_p v with p the vertex's heaviest joint (ties: the lowest index), C as given
 *   LINEAR           linear blend skinning, eq. (1): v' = sum w_i C_i v
 *   SPHERICAL        spherical blend skinning: Q by `rotation`, c by `center`
 *   DUAL_QUATERNION  dual quaternion linear blending (Kavan et al. 2007); a joint that is not rigid counts, for every
 *                    vertex, as the rigid motion that turns by R_i and takes the vertex where C_i does
 */
typedef enum sbs_method {
  SBS_METHOD_RIGID = 0,
  SBS_METHOD_LINEAR = 1,
  SBS_METHOD_SPHERICAL = 2,
  SBS_METHOD_DUAL_QUATERNION = 3
} sbs_method;

/*
 * How SBS_METHOD_SPHERICAL blends rotations, as quaternions of such signs that (q_p, q_i) >= 0, p the heaviest joint.
 *
 *   QLERP    eqs. (4) to (6): sum w_i q_i, normalized
 *   AVERAGE  the spherical weighted average, where sum w_i log(q* q_i) = 0 (Buss and Fillmore 2001, algorithm A2). Of
 *            two quaternions that is spherical linear interpolation, in closed form; of more it is found by Newton's
 *            iteration from QLERP's on, until a step is at most 2^-10 (float32) or 2^-28 (float64) long, where the
 *            error is about the square of that. That takes one to four steps; there are never more than 12. Where two
 *            of them are more than 90 degrees apart (the joints more than 180), steps are shorter and go on to 2^-22 or
 *            2^-50, but not beyond 40
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
 *   JOINT_SET  section 4: one for each joint set and pose, the point that its joints move most alike. Where
 *              neighboring vertices are of different sets, the mesh may tear
 *   WEIGHTED   one for each vertex and pose, the point that its joints move most alike as far as they weigh: c = v + z,
 *              z = argmin sum_{a<b} w_a w_b (|(R_a z + C_a v) - (R_b z + C_b v)|^2 + damping |z|^2)
 *              so that nothing jumps where an influence fades out. The damping is at least SBS_WEIGHTED_DAMPING
 *   OPTIMIZED  one for each vertex, whatever the pose: the `centers` that the skin was made with, such as optimized
 *              centers of rotation (Le and Hodgins 2016) or, for two influences, the joint between. SBS_ERROR_OPTION if
 *              it has none. About a center that is the vertex itself nothing turns, so the formula is linear blending:
 *              then it is linear blending of the normal as well, and costs no more
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
   * SBS_WEIGHTED_DAMPING for less.
   */
  double damping;
  /*
   * Not 0: the paper's truncated singular value decomposition by LAPACK instead, of minimal |c - c0|: singular values
   * of the equations (scaled as above) up to 1e-5 are dropped, then those up to rcond times the largest. It jumps where
   * one crosses the cut; 1e-3 is a good value. Default 0; must be in [0, 1). For SBS_CENTER_JOINT_SET only.
   */
  double rcond;

  /*
   * How much of this method each vertex gets, in place of a base method: a map that blends what comes out of the two,
   * v' = (1 - a) base + a this. Normals are blended alike and brought to unit length. Where the amount is 0 or 1 that
   * is the method itself, to the last bit, and the other one is not evaluated. NULL (default): all of this method.
   */
  const void *amount;                    /* (V) in [0, 1], or NULL */
  sbs_scalar amount_scalar;              /* of amount; default SBS_FLOAT32 */
  const struct sbs_deform_options *base; /* or NULL (default): SBS_METHOD_LINEAR. Read with an amount only, and of it no
                                            more than method, rotation, center, damping and rcond */

  int threads;             /* 0 (default): what sbs_get_threads says; never more than the work is worth */
  size_t positions_stride; /* bytes from vertex to vertex of the output; 0 (default): packed */
  size_t normals_stride;   /* the same for the normals */

  /*
   * Memory for the call, aligned to 64 bytes, so that nothing is allocated; NULL (default): it allocates. At least
   * sbs_skin_scratch_size bytes, twice that with an amount; several frames are worked on at once only where there is as
   * much for each.
   */
  void *scratch;
  size_t scratch_size;
} sbs_deform_options;

SBS_API sbs_deform_options sbs_default_deform_options(void);

/* What a pose asked for, as the paper's Table 2 counts it. */
typedef struct sbs_deform_report {
  size_t nontrivial_joint_sets; /* sets of more than one joint that are not a joint and its parent */
  size_t solves;                /* least-squares solves for rotation centers of joint sets, all frames added, and those
                                   of a base that is blended with */
  size_t nonrigid_joints;       /* joints that are not rigid, all frames added */
} sbs_deform_report;

/* Bytes of scratch that one deformation by one method needs with this skin, whatever the method. 0 if skin is NULL. */
SBS_API size_t sbs_skin_scratch_size(const sbs_skin *skin);

/* -------------------------------------------------------------------------------------------------------- deform -- */

/*
 * Deforms the mesh: skinning matrices in, positions out. Normals, where asked for, are
 *
 *   rigid               n' = C_p^-T n                   (R_p n for a rigid joint)
 *   linear              n' = sum w_i C_i^-T n           (R_i n for rigid joints)
 *   spherical, dual q.  n' = Q (sum w_i S_i^-1) n       (Q n for rigid joints)
 *
 * with the adjugate in place of the inverse of a singular matrix; of unit length, or zero where n is
 * or joints that are scaled to nothing leave none of it.
 *
 *   skin       from sbs_skin_new
 *   pose       the matrices of one frame
 *   options    or NULL for the defaults
 *   positions  (V, 3) of the skin's scalar type; receives the positions in the caller's vertex order
 *   normals    (V, 3) or NULL; SBS_ERROR_OPTION if the skin has no rest normals
 *   report     or NULL
 *   fault      or NULL
 *
 * Accuracy on real characters, against exact arithmetic on the same input and as a share of the mesh's size: 1e-12 for
 * float64; for float32 5e-8 (spherical by default), 1e-6 (weighted centers: 3e-7 is seen) or 2e-7 plus half an ulp of
 * the output. Where joints are not rigid, 2e-7 (weighted centers: 1e-6) times the most that one of them stretches by.
 *
 * Errors: NULL, OPTION, STRIDE, NOT_FINITE, NOT_AFFINE, OUT_OF_MEMORY, CANCELLED, SCRATCH, NO_CONVERGENCE, INTERNAL.
 */
SBS_API sbs_status sbs_skin_deform(const sbs_skin *skin, const sbs_pose *pose, const sbs_deform_options *options,
                                   void *positions, void *normals, sbs_deform_report *report, sbs_fault *fault);

/*
 * The same for several frames; bit for bit what sbs_skin_deform gives for each. All input is checked before anything is
 * written. Frames are posed one after the other, though: where a later one fails by NO_CONVERGENCE or INTERNAL, which
 * no known input brings about, the positions and normals of others are written already.
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
 * The rotation centers of joint sets in a pose: SBS_CENTER_JOINT_SET, whatever the options say.
 *
 *   centers  (N, 3) double, in the space of the rest positions; of joints that are not rigid f + z / s, s^2 the mean of
 *            the squares that they scale by (a third of those in the 3x3 part of a matrix). A set of one joint needs no
 *            center: it gets the mean rest position of its vertices, as does the empty set.
 *
 * Errors: as sbs_skin_deform.
 */
SBS_API sbs_status sbs_skin_rotation_centers(const sbs_skin *skin, const sbs_pose *pose,
                                             const sbs_deform_options *options, double *centers,
                                             sbs_deform_report *report, sbs_fault *fault);

/* ------------------------------------------------------------------------------------------------------- inverse -- */

/*
 * Undoes a deformation: posed positions in, rest positions out. With its weights given, every method moves a vertex by
 * an affine map, v' = A v + b, so what sbs_skin_deform made of v by the same pose and options becomes v again; and what
 * was sculpted on the posed mesh becomes a shape to deform.
 *
 * A vertex has no inverse where its joints have crushed it: where |det A| <= 16 eps |A|^3, or rounding of its posed
 * position p and of A may move its rest position by more than a thousandth of the mesh's size,
 *
 *     eps (|p| + |A| size) |A^-1| > size / 1000
 *
 * with Frobenius norms, eps that of the skin's type and size the diagonal of the box around the rest positions and the
 * origin. Such a vertex gets the rest position that the skin was made with.
 *
 *   skin             from sbs_skin_new
 *   pose             the matrices of the frame
 *   options          those of the deformation, or NULL for the defaults; positions_stride is that of rest_positions,
 *                    normals_stride is ignored
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
