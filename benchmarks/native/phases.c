/* SPDX-License-Identifier: MIT */
/*
 * Times the library on a workload, whole frames and their parts:
 *
 *     SBS_ISA=avx2 phases <workload>          the dialogue of worker.h
 *
 *     frame      sbs_skin_deform, one frame after the other, all into one array
 *     apart      the same, each frame into an array of its own
 *     many       sbs_skin_deform_many, into those
 *     pose       the first part of a frame: joints, centers and tables of rows
 *     alone      the second, all vertices, again and again
 */
#include "base/memory.h"
#include "base/scalar.h"
#include "deform/plan.h"
#include "deform/pose.h"
#include "deform/run.h"
#include "worker.h"
#include "workload.h"

typedef struct bench {
  workload load;
  sbs_skin *skin;
  float *positions, *normals; /* (frame_count, vertex_count, 3) */
  float *halves;              /* (vertex_count) */
  void *scratch;
  size_t scratch_size;
} bench;

static void check(sbs_status status) {
  if (status) {
    fprintf(stderr, "%s\n", sbs_status_string(status));
    exit(1);
  }
}

static void *checked_allocate(size_t count, size_t size) {
  const sbs_allocator allocator = sbs_default_allocator();
  void *memory = sbs_allocate(&allocator, count, size);
  if (!memory) check(SBS_ERROR_OUT_OF_MEMORY);
  memset(memory, 0, count * size); /* so that no timing pays for the first touch */
  return memory;
}

/* A rotation center for each vertex (vertex_count, 3): where its joints are, on the average. */
static double *new_centers(const workload *load) {
  double *centers = checked_malloc(3 * load->vertex_count * sizeof *centers);
  for (size_t v = 0; v < load->vertex_count; v++) {
    for (size_t axis = 0; axis < 3; axis++) {
      double sum = 0.0;
      for (size_t k = v * load->influences; k < (v + 1) * load->influences; k++) {
        sum += (double)load->joint_weights[k] * load->joint_positions[3 * (size_t)load->joint_indices[k] + axis];
      }
      centers[3 * v + axis] = sum;
    }
  }
  return centers;
}

static bench new_bench(const char *path) {
  enum {
    MOST_THREADS = 64
  };
  bench b = {.load = read_workload(path)};
  const workload *load = &b.load;
  sbs_skin_desc desc = sbs_default_skin_desc();
  desc.vertex_count = load->vertex_count;
  desc.joint_count = load->joint_count;
  desc.influences_per_vertex = load->influences;
  desc.rest_positions = load->rest_positions;
  desc.rest_normals = load->rest_normals;
  desc.joint_indices = load->joint_indices;
  desc.joint_weights = load->joint_weights;
  desc.parents = load->parents;
  desc.joint_positions = load->joint_positions;
  double *centers = new_centers(load);
  desc.centers = centers;
  check(sbs_skin_new(&desc, NULL, &b.skin, NULL, NULL));
  free(centers);

  b.positions = checked_allocate(load->frame_count * load->vertex_count, 3 * sizeof(float));
  b.normals = checked_allocate(load->frame_count * load->vertex_count, 3 * sizeof(float));
  b.halves = checked_allocate(load->vertex_count, sizeof(float));
  for (size_t v = 0; v < load->vertex_count; v++) b.halves[v] = 0.5f;
  b.scratch_size = MOST_THREADS * sbs_skin_scratch_size(b.skin);
  b.scratch = checked_allocate(b.scratch_size, 1);
  return b;
}

static void free_bench(bench *b) {
  const sbs_allocator allocator = sbs_default_allocator();
  void *own[] = {b->positions, b->normals, b->halves, b->scratch};
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) sbs_release(&allocator, own[i]);
  sbs_skin_free(b->skin);
}

/* The methods, and spherical ones that blend rotations or find centers another way, or half. */
static void choose_method(const bench *b, const char *name, sbs_deform_options *options) {
  static const char *const names[] = {"rigid", "linear", "spherical", "dual_quaternion"};
  const int is_half = !strcmp(name, "half");
  for (int i = 0; i < 4; i++) {
    if (strcmp(name, names[i]) != 0) continue;
    options->method = (sbs_method)i;
    return;
  }
  if (!strcmp(name, "average")) {
    options->rotation = SBS_ROTATION_AVERAGE;
  } else if (!strcmp(name, "weighted")) {
    options->center = SBS_CENTER_WEIGHTED;
  } else if (!strcmp(name, "optimized") || is_half) {
    options->center = SBS_CENTER_OPTIMIZED;
    options->amount = is_half ? b->halves : NULL;
  } else {
    fprintf(stderr, "%s is no method\n", name);
    exit(1);
  }
}

static sbs_deform_options make_options(const bench *b, const request *r) {
  sbs_deform_options options = sbs_default_deform_options();
  choose_method(b, r->method, &options);
  options.threads = r->threads;
  options.scratch = b->scratch;
  options.scratch_size = b->scratch_size;
  return options;
}

static const double *frame_matrices(const bench *b, size_t frame) {
  return b->load.skinning_matrices + 12 * b->load.joint_count * frame;
}

/* --------------------------------------------------------------------------------------------- the public functions */

/* One time for all frames, divided by their number. */
static double time_frames(const bench *b, const request *r, int together, int apart) {
  const sbs_deform_options options = make_options(b, r);
  const size_t frames = b->load.frame_count, size = 3 * b->load.vertex_count;
  sbs_pose pose = {.skinning_matrices = b->load.skinning_matrices, .scalar = SBS_FLOAT64, .rows = 3};
  const double start = now();
  if (together) {
    float *normals = r->normals ? b->normals : NULL;
    check(sbs_skin_deform_many(b->skin, frames, &pose, &options, b->positions, normals, NULL, NULL));
  } else {
    for (size_t f = 0; f < frames; f++) {
      float *positions = b->positions + (apart ? f * size : 0);
      float *normals = r->normals ? b->normals + (apart ? f * size : 0) : NULL;
      pose.skinning_matrices = frame_matrices(b, f);
      check(sbs_skin_deform(b->skin, &pose, &options, positions, normals, NULL, NULL));
    }
  }
  return (now() - start) / (double)frames;
}

/* ------------------------------------------------------------------------------------------------- parts of a frame */

/* A frame that is planned, as sbs_skin_deform has it. The options outlive it. */
static sbs_frame new_frame(const bench *b, const sbs_deform_options *options, int normals, size_t number) {
  const size_t packed = 3 * sizeof(float);
  sbs_frame frame;
  sbs_plan plan = {
      .common = {.skin = b->skin,
                 .options = options,
                 .positions = b->positions,
                 .positions_stride = packed,
                 .normals = normals ? b->normals : NULL,
                 .normals_stride = packed,
                 .rest = {.skin = b->skin, .stride = packed}},
      .poses = {.skinning_matrices = frame_matrices(b, number), .scalar = SBS_FLOAT64, .rows = 3},
      .frame_count = 1,
  };
  check(sbs_make_plan(&plan, NULL));
  sbs_make_frame(&plan, 0, 0, &frame);
  return frame;
}

/* The mean of the first part over the frames. */
static double time_poses(const bench *b, const request *r) {
  const sbs_deform_options options = make_options(b, r);
  double sum = 0.0;
  for (size_t f = 0; f < b->load.frame_count; f++) {
    sbs_frame frame = new_frame(b, &options, r->normals, f);
    const double start = now();
    check(sbs_pose_frame(&frame, r->threads));
    sum += now() - start;
    check(sbs_run_frame(&frame, r->threads)); /* so that the caches are as in a whole frame */
  }
  return sum / (double)b->load.frame_count;
}

/* On a frame from the middle: the first is at rest in many clips. */
static void time_kernels(const bench *b, const request *r, double *times) {
  const sbs_deform_options options = make_options(b, r);
  sbs_frame frame = new_frame(b, &options, r->normals, b->load.frame_count / 2);
  check(sbs_pose_frame(&frame, r->threads));
  for (int i = 0; i < r->repetitions; i++) {
    const double start = now();
    check(sbs_run_frame(&frame, r->threads));
    times[i] = now() - start;
  }
}

/* ----------------------------------------------------------------------------------------------------- the dialogue */

static void respond(const bench *b, const request *r, double *times) {
  const int together = !strcmp(r->part, "many"), apart = !strcmp(r->part, "apart");
  if (!strcmp(r->part, "pose")) {
    for (int i = 0; i < r->repetitions; i++) times[i] = time_poses(b, r);
  } else if (together || apart || !strcmp(r->part, "frame")) {
    for (int i = 0; i < r->repetitions; i++) times[i] = time_frames(b, r, together, apart);
  } else if (!strcmp(r->part, "alone")) {
    time_kernels(b, r, times);
  } else {
    fprintf(stderr, "%s can't be timed\n", r->part);
    exit(1);
  }
}

static void introduce(const bench *b) {
  const sbs_skin *skin = b->skin;
  printf("{\"instruction_set\": \"%s\", \"compiler\": \"%s\", \"joint_sets\": %zu}\n", sbs_isa_name(skin->isa),
         __VERSION__, skin->set_count);
  fflush(stdout);
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: %s <workload>\n", argv[0]);
    return 2;
  }
  bench b = new_bench(argv[1]);
  introduce(&b);
  for (request r; read_request(&r);) {
    double *times = checked_malloc((size_t)r.repetitions * sizeof *times);
    memset(times, 0, (size_t)r.repetitions * sizeof *times);
    respond(&b, &r, times);
    answer(times, r.repetitions);
    free(times);
  }
  free_bench(&b);
  return 0;
}
