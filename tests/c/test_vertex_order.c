/* SPDX-License-Identifier: MIT */
/* The order of vertices changes no bit of the results. */
#include "rig.h"
#include "skin/skin.h"

enum {
  VERTICES = 9000,
  JOINTS = 14,
  BEYOND = 4 * SBS_BLOCK /* vertices that nothing may write to */
};

/* Room for positions and normals in either type, with a number behind that must stay. */
typedef struct output {
  double numbers[2][VERTICES + BEYOND][3];
} output;

static output expected, found;

/* Vertices of no joint to three, some of them their own centers; many sets, of very different size. */
static rig new_mesh(void) {
  rig made = new_rig(1, VERTICES, JOINTS, 3);
  uint64_t seed = 2;
  for (size_t i = 0; i < 3 * VERTICES; i++) made.positions[i] /= 3.0; /* all bits of a double: sums of those round */
  for (size_t v = 0; v < VERTICES; v++) {
    for (size_t k = 0; k < 3; k++) {
      const size_t most = random_below(&seed, JOINTS) + 1; /* low joints have more vertices */
      made.joint_indices[3 * v + k] = (int32_t)random_below(&seed, most);
      if (random_below(&seed, 3) == 0) made.joint_weights[3 * v + k] = 0.0;
    }
    if (v % 5 == 0) memcpy(made.centers + 3 * v, made.positions + 3 * v, 3 * sizeof(double));
  }
  return made;
}

static void make_pose(transform joints[JOINTS], int is_rigid) {
  uint64_t seed = 3;
  for (int j = 0; j < JOINTS; j++) joints[j] = random_rigid(&seed, 120.0);
  if (!is_rigid) joints[1] = multiply(joints[1], scaling(1.5, 0.5, -1.0));
}

/* Fisher and Yates. */
static void make_order(int32_t *order) {
  uint64_t seed = 4;
  for (int32_t i = 0; i < VERTICES; i++) order[i] = i;
  for (size_t i = VERTICES - 1; i; i--) {
    const size_t other = random_below(&seed, i + 1);
    const int32_t moved = order[i];
    order[i] = order[other];
    order[other] = moved;
  }
}

static void deform(const sbs_skin *skin, const transform *joints, const sbs_deform_options *options, int with_normals,
                   output *to) {
  const sbs_pose pose = pose_of(joints);
  memset(to, 0x5a, sizeof *to);
  CHECK_EQUAL(sbs_skin_deform(skin, &pose, options, to->numbers[0], with_normals ? to->numbers[1] : NULL, NULL, NULL),
              SBS_OK);
}

/* How many vertices have not the bits that they have in the other order, beside numbers that nobody may write. */
static size_t count_different(const int32_t *order, sbs_scalar scalar, int with_normals) {
  const size_t size = 3 * size_of(scalar);
  size_t different = 0;
  for (int which = 0; which <= with_normals; which++) {
    const char *old = (const char *)expected.numbers[which], *new = (const char *)found.numbers[which];
    for (size_t i = 0; i < VERTICES; i++) different += memcmp(new + i * size, old + (size_t)order[i] * size, size) != 0;
    for (size_t i = 0; i < BEYOND * size; i++) different += new[VERTICES * size + i] != 0x5a;
  }
  return different;
}

/* All methods, with normals and without, by one thread in the old order and by several in the new one. */
static void check_deformations(const sbs_skin *skin, const sbs_skin *reordered, const int32_t *order) {
  for (int m = 0; m < 4 * ALL_VARIANTS; m++) {
    const int with_normals = m % 2, is_rigid = m / 2 % 2;
    sbs_deform_options options = options_of_variant(m / 4);
    transform joints[JOINTS];
    make_pose(joints, is_rigid);
    options.threads = 1;
    deform(skin, joints, &options, with_normals, &expected);
    options.threads = 4;
    deform(reordered, joints, &options, with_normals, &found);
    CHECK_EQUAL(count_different(order, skin->scalar, with_normals), 0);
  }
}

static void test_order_changes_no_bit(void) {
  static int32_t order[VERTICES];
  rig mesh = new_mesh();
  for (sbs_scalar scalar = SBS_FLOAT32; scalar <= SBS_FLOAT64; scalar++) {
    sbs_skin *skin = bind_rig(&mesh, scalar, 1);
    make_order(order);
    rig moved = reorder_rig(&mesh, order);
    sbs_skin *reordered = bind_rig(&moved, scalar, 1);
    CHECK(memcmp(skin->set_centroids, reordered->set_centroids, skin->set_count * 3 * sizeof(double)) == 0);
    check_deformations(skin, reordered, order);
    free_rig(&moved);
    sbs_skin_free(skin);
    sbs_skin_free(reordered);
  }
  free_rig(&mesh);
}

/* The middle of far vertices to the last bit, whatever their order; sums of doubles would have lost the small ones. */
static void test_centroid_is_exact(void) {
  static const double xs[] = {1e16, 1.0, 1.0, -1e16, 1.0, 1.0, 1.0, 1.0};
  rig mesh = new_rig(6, 8, 1, 1);
  for (size_t first = 0; first < 8; first++) {
    for (size_t v = 0; v < 8; v++) {
      mesh.positions[3 * v] = xs[(first + v) % 8];
      mesh.positions[3 * v + 1] = ldexp((double)((first + v) % 8), -1060);
      mesh.positions[3 * v + 2] = -0.25;
    }
    sbs_skin *skin = bind_rig(&mesh, SBS_FLOAT64, 0);
    CHECK(skin->set_centroids[0] == 0.75);
    CHECK(skin->set_centroids[1] == 0.0); /* of the other's size, nothing */
    CHECK(skin->set_centroids[2] == -0.25);
    sbs_skin_free(skin);
  }
  free_rig(&mesh);
}

/* Of the smallest and the largest numbers. */
static void test_centroid_of_extreme_sizes(void) {
  static const double sizes[] = {4.9406564584124654e-324, 1e-310, 1e-300, 1.0, 1e300, 1.7976931348623157e308};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    rig mesh = new_rig(7, 3, 1, 1);
    for (size_t k = 0; k < 9; k++) mesh.positions[k] = sizes[i];
    sbs_skin *skin = bind_rig(&mesh, SBS_FLOAT64, 0);
    for (size_t axis = 0; axis < 3; axis++) {
      /* below 1e-289 to 2^-1031 of that; else half an ulp for the sum, and one for the quotient */
      CHECK_NEAR(skin->set_centroids[axis], sizes[i], ldexp(sizes[i], -52) + 1e-310);
    }
    sbs_skin_free(skin);
    free_rig(&mesh);
  }
}

static void run_deformations(void) {
  RUN(test_order_changes_no_bit);
}

int main(void) {
  run_with_every_instruction_set(run_deformations);
  RUN(test_centroid_is_exact);
  RUN(test_centroid_of_extreme_sizes);
  return harness_result();
}
