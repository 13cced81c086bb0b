/* SPDX-License-Identifier: MIT */
/*
 * Times the library on a workload, whole frames and their parts:
 *
 *     SBS_ISA=avx2 phases <workload>          the dialogue of worker.h
 *
 *     frame      sbs_skin_deform, one frame after the other, all into one array
 *     apart      the same, each frame into an array of its own
 *     many       sbs_skin_deform_many, into those
 *     joints, centers, constants, kernel     the parts of a frame, as they follow each other in it
 *     alone      the kernel again and again
 *     direct     in its place the formulas of direct.h
 *     stream     in its place the bound of stream.h
 *     positions  no times: writes the positions of the first frame beside the workload
 *     difference no times: by how much `direct` differs, as a share of the mesh's size times 1e9
 *
 * The parts of a frame are private to two sources of the library, which are part of this program for that.
 */
#include <math.h>
#include <stdalign.h>

#include "deform/pose.c" /* NOLINT(bugprone-suspicious-include) */
#include "deform/run.c"  /* NOLINT(bugprone-suspicious-include) */

#include "base/memory.h"
#include "deform/plan.h"
#include "direct.h"
#include "stream.h"
#include "worker.h"
#include "workload.h"

typedef struct bench {
  workload load;
  sbs_skin *skin;
  float *positions, *normals; /* (frame_count, vertex_count, 3) */
  float *stream_positions, *stream_normals;
  float *direct_constants;
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

  const size_t lanes = b.skin->block_count * SBS_BLOCK;
  b.positions = checked_allocate(load->frame_count * load->vertex_count, 3 * sizeof(float));
  b.normals = checked_allocate(load->frame_count * load->vertex_count, 3 * sizeof(float));
  b.stream_positions = checked_allocate(lanes, 3 * sizeof(float));
  b.stream_normals = checked_allocate(lanes, 3 * sizeof(float));
  b.direct_constants = checked_allocate(direct_constants_size(b.skin), sizeof(float));
  b.scratch_size = MOST_THREADS * sbs_skin_scratch_size(b.skin);
  b.scratch = checked_allocate(b.scratch_size, 1);
  return b;
}

static void free_bench(bench *b) {
  const sbs_allocator allocator = sbs_default_allocator();
  void *own[] = {b->positions, b->normals, b->stream_positions, b->stream_normals, b->direct_constants, b->scratch};
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) sbs_release(&allocator, own[i]);
  sbs_skin_free(b->skin);
}

/* The methods, and spherical ones that blend rotations or find centers another way. */
static void choose_method(const char *name, sbs_deform_options *options) {
  static const char *const names[] = {"rigid", "linear", "spherical", "dual_quaternion"};
  for (int i = 0; i < 4; i++) {
    if (strcmp(name, names[i]) != 0) continue;
    options->method = (sbs_method)i;
    return;
  }
  if (!strcmp(name, "average")) {
    options->rotation = SBS_ROTATION_AVERAGE;
  } else if (!strcmp(name, "weighted")) {
    options->center = SBS_CENTER_WEIGHTED;
  } else if (!strcmp(name, "optimized")) {
    options->center = SBS_CENTER_OPTIMIZED;
  } else {
    fprintf(stderr, "%s is no method\n", name);
    exit(1);
  }
}

static sbs_deform_options options_of(const bench *b, const request *r) {
  sbs_deform_options options = sbs_default_deform_options();
  choose_method(r->method, &options);
  options.threads = r->threads;
  options.scratch = b->scratch;
  options.scratch_size = b->scratch_size;
  return options;
}

static const double *matrices_of(const bench *b, size_t frame) {
  return b->load.skinning_matrices + 12 * b->load.joint_count * frame;
}

/* --------------------------------------------------------------------------------------------- the public functions */

/* One time for all frames, divided by their number. */
static double time_frames(const bench *b, const request *r, int together, int apart) {
  const sbs_deform_options options = options_of(b, r);
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
      pose.skinning_matrices = matrices_of(b, f);
      check(sbs_skin_deform(b->skin, &pose, &options, positions, normals, NULL, NULL));
    }
  }
  return (now() - start) / (double)frames;
}

/* ------------------------------------------------------------------------------------------------- parts of a frame */

enum {
  START,
  JOINTS,
  CENTERS,
  CONSTANTS,
  KERNEL,
  MARK_COUNT
};

typedef struct timed_frame {
  sbs_frame frame;
  double marks[MARK_COUNT]; /* when each part was done */
} timed_frame;

static timed_frame new_timed_frame(const bench *b, const sbs_deform_options *options, int normals, size_t number) {
  const sbs_plan plan = {
      .common = {.skin = b->skin,
                 .options = options,
                 .formula = sbs_choose_formula(options),
                 .pose = {.skinning_matrices = matrices_of(b, number), .scalar = SBS_FLOAT64, .rows = 3},
                 .positions = b->positions,
                 .positions_stride = 3 * sizeof(float),
                 .normals = normals ? b->normals : NULL,
                 .normals_stride = 3 * sizeof(float)},
      .frame_count = 1,
      .scratch = b->scratch,
  };
  sbs_frame frames[2];
  sbs_make_frame(&plan, 0, 0, frames);
  return (timed_frame){.frame = frames[0]};
}

/* What sbs_pose_frame and sbs_run_frame do, with marks. */
static void run_parts(timed_frame *timed, int threads) {
  sbs_frame *frame = &timed->frame;
  const sbs_skin *skin = frame->skin;
  timed->marks[START] = now();
  check(sbs_share_work(threads, skin->joint_count, JOINTS_CHUNK, prepare_joints, frame));
  check(prepare_stretches(frame, threads));
  timed->marks[JOINTS] = now();
  check(find_centers(frame, threads));
  timed->marks[CENTERS] = now();
  check(sbs_share_work(threads, skin->group_count, SETS_CHUNK, write_constants, frame));
  timed->marks[CONSTANTS] = now();
  check(sbs_share_work(threads, skin->block_count, sbs_chunk_blocks(skin), run_items, frame));
  timed->marks[KERNEL] = now();
}

/* The mean over the frames. */
static double time_part(const bench *b, const request *r, int part) {
  const sbs_deform_options options = options_of(b, r);
  double sum = 0.0;
  for (size_t f = 0; f < b->load.frame_count; f++) {
    timed_frame timed = new_timed_frame(b, &options, r->normals, f);
    run_parts(&timed, r->threads);
    sum += timed.marks[part] - timed.marks[part - 1];
  }
  return sum / (double)b->load.frame_count;
}

/* -------------------------------------------------------------------------------------------- the kernel and others */

typedef struct kernel_run {
  const bench *b;
  sbs_frame *frame;
} kernel_run;

static sbs_status run_kernels(void *context, sbs_share blocks, int worker) {
  return run_items(((const kernel_run *)context)->frame, blocks, worker);
}

/* Those that the library would do in one go. */
static sbs_share items_of(const sbs_skin *skin, sbs_share blocks) {
  return (sbs_share){find_item(skin, blocks.begin), find_item(skin, blocks.end)};
}

static sbs_status run_direct(void *context, sbs_share blocks, int worker) {
  const kernel_run *run = context;
  const sbs_share items = items_of(run->b->skin, blocks);
  (void)worker;
  direct_run(run->frame, run->b->direct_constants, items.begin, items.end);
  return SBS_OK;
}

static sbs_status run_stream(void *context, sbs_share blocks, int worker) {
  const kernel_run *run = context;
  const bench *b = run->b;
  const sbs_share items = items_of(b->skin, blocks);
  (void)worker;
  stream_items(b->skin, items.begin, items.end, b->stream_positions, run->frame->normals ? b->stream_normals : NULL);
  return SBS_OK;
}

/* On a frame from the middle: the first is at rest in many clips. */
static void time_kernels(const bench *b, const request *r, sbs_chunk_work *work, double *times) {
  const sbs_deform_options options = options_of(b, r);
  timed_frame timed = new_timed_frame(b, &options, r->normals, b->load.frame_count / 2);
  run_parts(&timed, 1);
  if (work == run_direct) direct_prepare(&timed.frame, b->direct_constants);
  kernel_run run = {b, &timed.frame};
  for (int i = 0; i < r->repetitions; i++) {
    const double start = now();
    check(sbs_share_work(r->threads, b->skin->block_count, sbs_chunk_blocks(b->skin), work, &run));
    times[i] = now() - start;
  }
}

/* The largest difference of the direct form to the library's, over the size of the mesh. */
static double find_difference(bench *b, const request *r) {
  const sbs_deform_options options = options_of(b, r);
  timed_frame timed = new_timed_frame(b, &options, 0, b->load.frame_count / 2);
  kernel_run run = {b, &timed.frame};
  const size_t count = 3 * b->load.vertex_count;
  run_parts(&timed, 1);
  float *expected = checked_malloc(count * sizeof *expected);
  memcpy(expected, b->positions, count * sizeof *expected);
  direct_prepare(&timed.frame, b->direct_constants);
  run_direct(&run, (sbs_share){0, b->skin->block_count}, 0);
  double most = 0.0;
  for (size_t i = 0; i < count; i++) most = fmax(most, fabs((double)b->positions[i] - (double)expected[i]));
  free(expected);
  return most / b->skin->size;
}

/* ----------------------------------------------------------------------------------------------------- the dialogue */

static int part_of(const char *what) {
  static const char *const names[MARK_COUNT] = {"", "joints", "centers", "constants", "kernel"};
  for (int part = JOINTS; part < MARK_COUNT; part++) {
    if (!strcmp(what, names[part])) return part;
  }
  return 0;
}

static void respond(bench *b, const request *r, const char *path, double *times) {
  const int part = part_of(r->what), together = !strcmp(r->what, "many"), apart = !strcmp(r->what, "apart");
  if (part) {
    for (int i = 0; i < r->repetitions; i++) times[i] = time_part(b, r, part);
  } else if (together || apart || !strcmp(r->what, "frame")) {
    for (int i = 0; i < r->repetitions; i++) times[i] = time_frames(b, r, together, apart);
  } else if (!strcmp(r->what, "alone")) {
    time_kernels(b, r, run_kernels, times);
  } else if (!strcmp(r->what, "direct")) {
    time_kernels(b, r, run_direct, times);
  } else if (!strcmp(r->what, "stream")) {
    time_kernels(b, r, run_stream, times);
  } else if (!strcmp(r->what, "positions")) {
    time_frames(b, r, 1, 1);
    write_positions(path, b->positions, b->load.vertex_count);
  } else if (!strcmp(r->what, "difference")) {
    times[0] = 1e9 * find_difference(b, r);
  } else {
    fprintf(stderr, "%s can't be timed\n", r->what);
    exit(1);
  }
}

static void introduce(const bench *b) {
  const sbs_skin *skin = b->skin;
  size_t numbers = 0, in_place = 0;
  for (size_t i = 0; i < skin->item_count; i++) {
    const sbs_item *item = skin->items + i;
    const size_t blocks = ((size_t)item->vertex_count + SBS_BLOCK - 1) / SBS_BLOCK;
    numbers += blocks * sbs_block_size(skin->groups + item->group);
    for (size_t block = 0; block < blocks; block++) in_place += !skin->runs[item->first_block + block];
  }
  printf("{\"instruction_set\": \"%s\", \"compiler\": \"%s\", \"joint_sets\": %zu, \"nontrivial_joint_sets\": %zu, "
         "\"groups\": %zu, \"blocks\": %zu, \"consecutive_blocks\": %zu, \"stream_bytes\": %zu}\n",
         sbs_isa_name(skin->isa), __VERSION__, skin->set_count, skin->nontrivial_set_count, skin->group_count,
         skin->block_count, in_place, numbers * sizeof(float));
  fflush(stdout);
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s <workload> <file for positions>\n", argv[0]);
    return 2;
  }
  bench b = new_bench(argv[1]);
  introduce(&b);
  for (request r; read_request(&r);) {
    double *times = checked_malloc((size_t)r.repetitions * sizeof *times);
    memset(times, 0, (size_t)r.repetitions * sizeof *times);
    respond(&b, &r, argv[2], times);
    answer(times, r.repetitions);
    free(times);
  }
  free_bench(&b);
  return 0;
}
