/* SPDX-License-Identifier: MIT */
/*
 * Times the skinning of ozz-animation on a workload, by the dialogue of worker.h: `frame linear` with 1 thread.
 *
 * As its documentation advises, vertices are sorted by their number of influences and each number has a job of its own.
 */
#include <algorithm>
#include <numeric>
#include <vector>

#include "ozz/base/maths/simd_math.h"
#include "ozz/geometry/runtime/skinning_job.h"
#include "worker.h"
#include "workload.h"

namespace {

/* Vertices with one number of influences: their range in the sorted mesh. */
struct Part {
  size_t influences, begin, end;
};

struct Mesh {
  std::vector<size_t> order; /* the workload's number of each vertex */
  std::vector<Part> parts;
  std::vector<float> positions, normals, weights, out_positions, out_normals;
  std::vector<uint16_t> joints;
};

size_t count_influences(const workload &load, size_t vertex) {
  const float *weights = load.joint_weights + vertex * load.influences;
  return static_cast<size_t>(std::count_if(weights, weights + load.influences, [](float w) { return w > 0; }));
}

Mesh make_mesh(const workload &load) {
  Mesh mesh;
  mesh.order.resize(load.vertex_count);
  std::iota(mesh.order.begin(), mesh.order.end(), size_t{0});
  std::stable_sort(mesh.order.begin(), mesh.order.end(),
                   [&](size_t a, size_t b) { return count_influences(load, a) < count_influences(load, b); });
  for (size_t i = 0; i < load.vertex_count; ++i) {
    const size_t vertex = mesh.order[i], influences = count_influences(load, vertex);
    if (mesh.parts.empty() || mesh.parts.back().influences != influences) mesh.parts.push_back({influences, i, i});
    mesh.parts.back().end = i + 1;
    for (size_t axis = 0; axis < 3; ++axis) {
      mesh.positions.push_back(load.rest_positions[3 * vertex + axis]);
      mesh.normals.push_back(load.rest_normals[3 * vertex + axis]);
    }
    for (size_t k = 0; k < load.influences; ++k) {
      mesh.joints.push_back(static_cast<uint16_t>(load.joint_indices[vertex * load.influences + k]));
      mesh.weights.push_back(load.joint_weights[vertex * load.influences + k]);
    }
  }
  mesh.out_positions.resize(mesh.positions.size());
  mesh.out_normals.resize(mesh.normals.size());
  return mesh;
}

using Matrices = std::vector<ozz::math::Float4x4>;

std::vector<Matrices> make_matrices(const workload &load) {
  std::vector<Matrices> frames(load.frame_count);
  const double *m = load.skinning_matrices;
  for (Matrices &frame : frames) {
    for (size_t joint = 0; joint < load.joint_count; ++joint, m += 12) {
      ozz::math::Float4x4 matrix;
      for (int column = 0; column < 4; ++column) {
        matrix.cols[column] =
            ozz::math::simd_float4::Load(static_cast<float>(m[column]), static_cast<float>(m[4 + column]),
                                         static_cast<float>(m[8 + column]), column == 3 ? 1.f : 0.f);
      }
      frame.push_back(matrix);
    }
  }
  return frames;
}

void deform(const workload &load, Mesh *mesh, const Matrices &matrices, bool normals) {
  for (const Part &part : mesh->parts) {
    const size_t count = part.end - part.begin, vectors = 3 * part.begin, influences = part.begin * load.influences;
    ozz::geometry::SkinningJob job;
    job.vertex_count = static_cast<int>(count);
    job.influences_count = static_cast<int>(part.influences);
    job.joint_matrices = ozz::make_span(matrices);
    job.joint_indices = {mesh->joints.data() + influences, count * load.influences};
    job.joint_indices_stride = load.influences * sizeof(uint16_t);
    if (part.influences > 1) {
      job.joint_weights = {mesh->weights.data() + influences, count * load.influences};
      job.joint_weights_stride = load.influences * sizeof(float);
    }
    job.in_positions = {mesh->positions.data() + vectors, 3 * count};
    job.out_positions = {mesh->out_positions.data() + vectors, 3 * count};
    job.in_positions_stride = job.out_positions_stride = 3 * sizeof(float);
    if (normals) {
      job.in_normals = {mesh->normals.data() + vectors, 3 * count};
      job.out_normals = {mesh->out_normals.data() + vectors, 3 * count};
      job.in_normals_stride = job.out_normals_stride = 3 * sizeof(float);
    }
    if (!job.Run()) {
      fprintf(stderr, "ozz refused a job\n");
      exit(1);
    }
  }
}

/* Positions of the first frame, in the workload's order. */
void write_first_positions(const workload &load, Mesh *mesh, const Matrices &matrices, const char *path) {
  std::vector<float> positions(mesh->positions.size());
  deform(load, mesh, matrices, false);
  for (size_t i = 0; i < load.vertex_count; ++i) {
    for (size_t axis = 0; axis < 3; ++axis) positions[3 * mesh->order[i] + axis] = mesh->out_positions[3 * i + axis];
  }
  write_positions(path, positions.data(), load.vertex_count);
}

} /* namespace */

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s <workload> <file for positions>\n", argv[0]);
    return 2;
  }
  const workload load = read_workload(argv[1]);
  Mesh mesh = make_mesh(load);
  const std::vector<Matrices> frames = make_matrices(load);
  printf("{\"compiler\": \"%s\"}\n", __VERSION__);
  fflush(stdout);
  for (request r; read_request(&r);) {
    std::vector<double> times(static_cast<size_t>(r.repetitions));
    if (!strcmp(r.part, "positions")) {
      write_first_positions(load, &mesh, frames[0], argv[2]);
    } else {
      for (double &time : times) {
        const double start = now();
        for (const Matrices &matrices : frames) deform(load, &mesh, matrices, r.normals);
        time = (now() - start) / static_cast<double>(frames.size());
      }
    }
    answer(times.data(), r.repetitions);
  }
  return 0;
}
