/* SPDX-License-Identifier: MIT */
/*
 * A renderer that skins spherically in its vertex shader, without a window: what it uploads once and in each frame, and
 * one draw. The vertices it draws are read back and held against sbs_skin_deform. With libsbs and GLES 3.0 installed:
 *
 *     cc renderer.c $(pkg-config --cflags --libs sbs egl glesv2) -lm -o renderer
 *     ./renderer ../../engines/glsl/spherical.glsl renderer.vert
 *
 * It ends with 0 if they agree to float32, and with 77 where nothing can be drawn without a window.
 */
#define EGL_NO_X11
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl3.h>
#include <math.h>
#include <sbs/sbs.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  RINGS = 81,
  SIDES = 24,
  VERTICES = RINGS * SIDES,
  JOINTS = 4,
  WIDTH = 4, /* influences of a vertex, of which the shader has as many */
  TEXELS = 4 /* of a joint in the palette */
};

/* A vertex, sent once. */
typedef struct vertex {
  float position[3], normal[3];
  int32_t joints[WIDTH];
  float weights[WIDTH];
  float center[4]; /* and the amount */
  int32_t set;
} vertex;

/* A vertex by the shader. */
typedef struct drawn {
  float position[3], normal[3];
} drawn;

/* Arrays of the skin: a tube of radius 1/4 along x from 0 to 2, and four joints on its axis. */
static float rest[VERTICES][3], normals[VERTICES][3], joint_weights[VERTICES][JOINTS], amounts[VERTICES];
static int32_t joint_indices[VERTICES][JOINTS];
static double centers[VERTICES][3];
static const int32_t parents[JOINTS] = {-1, 0, 1, 2};
static const double joint_positions[JOINTS][3] = {{0.25, 0, 0}, {0.75, 0, 0}, {1.25, 0, 0}, {1.75, 0, 0}};

static vertex vertices[VERTICES];
static drawn by_shader[VERTICES];
static float by_library[VERTICES][3], normals_by_library[VERTICES][3];

/* Each joint's weight falls off to both sides of it. The vertices of the last ring have none, and stay. */
static void make_tube(void) {
  for (int v = 0; v < VERTICES; v++) {
    const int ring = v / SIDES;
    const float x = 2.0F * (float)ring / (RINGS - 1), angle = 6.2831853F * (float)(v % SIDES) / SIDES;
    normals[v][1] = cosf(angle), normals[v][2] = sinf(angle);
    rest[v][0] = x, rest[v][1] = 0.25F * normals[v][1], rest[v][2] = 0.25F * normals[v][2];
    for (int j = 0; j < JOINTS && ring < RINGS - 1; j++) {
      const float near = fmaxf(1.0F - fabsf(x - (float)joint_positions[j][0]) / 1.1F, 0.0F);
      joint_indices[v][j] = j;
      joint_weights[v][j] = near * near * near;
    }
    centers[v][0] = x;
    amounts[v] = 1.0F - 0.25F * x;
  }
}

static sbs_status bind_tube(sbs_skin **skin, sbs_fault *fault) {
  make_tube();
  sbs_skin_desc desc = sbs_default_skin_desc();
  desc.vertex_count = VERTICES, desc.joint_count = JOINTS, desc.influences_per_vertex = JOINTS;
  desc.rest_positions = rest, desc.rest_normals = normals;
  desc.joint_indices = joint_indices[0], desc.joint_weights = joint_weights;
  desc.parents = parents, desc.joint_positions = joint_positions[0];
  desc.centers = centers[0];
  return sbs_skin_new(&desc, NULL, skin, NULL, fault);
}

/* Each joint turns against the one before it, about an axis of its own. */
static void make_pose(double matrices[JOINTS][3][4]) {
  static const double quaternions[JOINTS][4] = {/* x, y, z, w */
                                                {0.1, 0.2, 0.3, 0.9},
                                                {0.6, 0.0, 0.2, 0.7},
                                                {-0.4, 0.3, 0.1, 0.8},
                                                {0.8, 0.1, 0.5, 0.3}};
  double parent[3][4] = {{1, 0, 0, 0.5}, {0, 1, 0, -0.25}, {0, 0, 1, 0.125}};
  for (int j = 0; j < JOINTS; j++) {
    const double *q = quaternions[j], *at = joint_positions[j];
    const double s = 2.0 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    const double turn[3][3] = {
        {1 - s * (q[1] * q[1] + q[2] * q[2]), s * (q[0] * q[1] - q[2] * q[3]), s * (q[0] * q[2] + q[1] * q[3])},
        {s * (q[0] * q[1] + q[2] * q[3]), 1 - s * (q[0] * q[0] + q[2] * q[2]), s * (q[1] * q[2] - q[0] * q[3])},
        {s * (q[0] * q[2] - q[1] * q[3]), s * (q[1] * q[2] + q[0] * q[3]), 1 - s * (q[0] * q[0] + q[1] * q[1])}};
    for (int i = 0; i < 3; i++) {
      double moved = parent[i][3];
      for (int k = 0; k < 3; k++) {
        matrices[j][i][k] = 0.0;
        for (int m = 0; m < 3; m++) matrices[j][i][k] += parent[i][m] * turn[m][k];
        moved += (parent[i][k] - matrices[j][i][k]) * at[k];
      }
      matrices[j][i][3] = moved;
    }
    memcpy(parent, matrices[j], sizeof parent);
  }
}

/* Fills vertices for the shader. */
static sbs_status fill_vertices(const sbs_skin *skin, sbs_fault *fault) {
  static int32_t joints[VERTICES][WIDTH], sets[VERTICES];
  static float weights[VERTICES][WIDTH];
  sbs_status status = sbs_skin_influences(skin, WIDTH, joints[0], weights[0], NULL, fault);
  if (status == SBS_OK) status = sbs_skin_joint_set_of_vertex(skin, sets);
  for (int v = 0; v < VERTICES; v++) {
    memcpy(vertices[v].position, rest[v], sizeof rest[v]);
    memcpy(vertices[v].normal, normals[v], sizeof normals[v]);
    memcpy(vertices[v].joints, joints[v], sizeof joints[v]);
    memcpy(vertices[v].weights, weights[v], sizeof weights[v]);
    for (int i = 0; i < 3; i++) vertices[v].center[i] = (float)centers[v][i];
    vertices[v].center[3] = amounts[v];
    vertices[v].set = sets[v];
  }
  return status;
}

/* A context of GLES 3.0 without a window; whether there is one. */
static int open_context(void) {
  const EGLDisplay display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
  const EGLint wanted[] = {EGL_RENDERABLE_TYPE, EGL_OPENGL_ES3_BIT, EGL_SURFACE_TYPE, 0, EGL_NONE};
  const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_NONE};
  EGLConfig config;
  EGLint count;
  if (display == EGL_NO_DISPLAY || !eglInitialize(display, NULL, NULL) || !eglBindAPI(EGL_OPENGL_ES_API)) return 0;
  if (!eglChooseConfig(display, wanted, &config, 1, &count) || !count) return 0;
  const EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, version);
  if (context == EGL_NO_CONTEXT || !eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context)) return 0;
  GLuint frame, pixels; /* a picture in place of a window; nothing draws without */
  glGenFramebuffers(1, &frame);
  glGenRenderbuffers(1, &pixels);
  glBindFramebuffer(GL_FRAMEBUFFER, frame);
  glBindRenderbuffer(GL_RENDERBUFFER, pixels);
  glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, 1, 1);
  glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, pixels);
  return glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
}

/* The text of a file, or NULL. */
static char *read_text(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  static const size_t room = 1 << 16;
  char *text = calloc(room, 1);
  if (text && fread(text, 1, room - 1, file) == room - 1) free(text), text = NULL; /* it may go on */
  fclose(file);
  return text;
}

static GLuint compile(GLenum kind, GLsizei count, const char *const *texts) {
  const GLuint shader = glCreateShader(kind);
  glShaderSource(shader, count, texts, NULL);
  glCompileShader(shader);
  char log[4096];
  glGetShaderInfoLog(shader, sizeof log, NULL, log);
  if (log[0]) fprintf(stderr, "%s\n", log);
  return shader;
}

/* The shader that finds positions about one of the kinds of centers, or 0. */
static GLuint link_program(const char *define_center, const char *spherical, const char *own) {
  const char *const texts[] = {"#version 300 es\n", define_center, spherical, own};
  const char *const nothing[] = {"#version 300 es\nvoid main() {}\n"};
  const char *const outputs[] = {"moved", "turned"};
  const GLuint program = glCreateProgram();
  glAttachShader(program, compile(GL_VERTEX_SHADER, 4, texts));
  glAttachShader(program, compile(GL_FRAGMENT_SHADER, 1, nothing));
  glTransformFeedbackVaryings(program, 2, outputs, GL_INTERLEAVED_ATTRIBS);
  glLinkProgram(program);
  GLint linked;
  char log[4096];
  glGetProgramiv(program, GL_LINK_STATUS, &linked);
  glGetProgramInfoLog(program, sizeof log, NULL, log);
  if (log[0]) fprintf(stderr, "%s\n", log);
  return linked ? program : 0;
}

/* Makes an input of the shader read a part of each vertex. */
static void read_attribute(GLuint program, const char *name, GLint size, GLenum type, size_t offset) {
  const GLint place = glGetAttribLocation(program, name);
  if (place < 0) return; /* not of this center */
  const void *from = (const void *)offset;
  glEnableVertexAttribArray((GLuint)place);
  if (type == GL_INT) glVertexAttribIPointer((GLuint)place, size, type, sizeof(vertex), from);
  if (type == GL_FLOAT) glVertexAttribPointer((GLuint)place, size, type, GL_FALSE, sizeof(vertex), from);
}

/* A texture of float32 that texelFetch reads. */
static void upload_texels(GLuint program, const char *name, GLint unit, GLsizei width, size_t height,
                          const float *texels) {
  GLuint texture;
  glGenTextures(1, &texture);
  glActiveTexture(GL_TEXTURE0 + (GLenum)unit);
  glBindTexture(GL_TEXTURE_2D, texture);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA32F, width, (GLsizei)height, 0, GL_RGBA, GL_FLOAT, texels);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  glUniform1i(glGetUniformLocation(program, name), unit);
}

/* Draws the skin in a pose, and keeps the vertices in place of pixels. Returns whether all went well. */
static int draw(GLuint program, const float *palette, size_t set_count, const float *set_centers) {
  GLuint buffers[2];
  glUseProgram(program);
  glGenBuffers(2, buffers);
  glBindBuffer(GL_ARRAY_BUFFER, buffers[0]);
  glBufferData(GL_ARRAY_BUFFER, sizeof vertices, vertices, GL_STATIC_DRAW);
  read_attribute(program, "position", 3, GL_FLOAT, offsetof(vertex, position));
  read_attribute(program, "normal", 3, GL_FLOAT, offsetof(vertex, normal));
  read_attribute(program, "joints", WIDTH, GL_INT, offsetof(vertex, joints));
  read_attribute(program, "weights", WIDTH, GL_FLOAT, offsetof(vertex, weights));
  read_attribute(program, "center", 4, GL_FLOAT, offsetof(vertex, center));
  read_attribute(program, "set", 1, GL_INT, offsetof(vertex, set));
  upload_texels(program, "palette", 0, TEXELS, JOINTS, palette);
  upload_texels(program, "set_centers", 1, 1, set_count, set_centers);

  glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, buffers[1]);
  glBufferData(GL_TRANSFORM_FEEDBACK_BUFFER, sizeof by_shader, NULL, GL_DYNAMIC_READ);
  glEnable(GL_RASTERIZER_DISCARD);
  glBeginTransformFeedback(GL_POINTS);
  glDrawArrays(GL_POINTS, 0, VERTICES);
  glEndTransformFeedback();
  const void *written = glMapBufferRange(GL_TRANSFORM_FEEDBACK_BUFFER, 0, sizeof by_shader, GL_MAP_READ_BIT);
  if (!written) return 0;
  memcpy(by_shader, written, sizeof by_shader);
  glUnmapBuffer(GL_TRANSFORM_FEEDBACK_BUFFER);
  return glGetError() == GL_NO_ERROR;
}

static double difference(const float *a, const float *b) {
  return hypot(hypot((double)a[0] - b[0], (double)a[1] - b[1]), (double)a[2] - b[2]);
}

/* Prints the largest differences from the library, positions' relative to the size; whether they are small. */
static int compare(const char *name) {
  const double size = sqrt(2.0 * 2.0 + 0.5 * 0.5 + 0.5 * 0.5);
  double of_positions = 0.0, of_normals = 0.0;
  for (int v = 0; v < VERTICES; v++) {
    const double position = difference(by_shader[v].position, by_library[v]) / size;
    const double normal = difference(by_shader[v].normal, normals_by_library[v]);
    if (!(position <= of_positions)) of_positions = position; /* NaN, too */
    if (!(normal <= of_normals)) of_normals = normal;
  }
  printf("%-16s positions within %.1e of the size, normals within %.1e\n", name, of_positions, of_normals);
  return of_positions <= 6e-7 && of_normals <= 6e-7;
}

int main(int argc, char **argv) {
  static const struct {
    sbs_center center;
    const char *name, *define;
  } kinds[] = {{SBS_CENTER_OPTIMIZED, "own centers", "#define CENTER 0\n"},
               {SBS_CENTER_JOINT_SET, "joint sets", "#define CENTER 1\n"},
               {SBS_CENTER_WEIGHTED, "weighted centers", "#define CENTER 2\n"}};
  char *spherical = argc == 3 ? read_text(argv[1]) : NULL, *own = argc == 3 ? read_text(argv[2]) : NULL;
  if (!spherical || !own) {
    fprintf(stderr, "renderer <spherical.glsl> <renderer.vert>\n");
    return 2;
  }
  if (!open_context()) {
    fprintf(stderr, "no GLES 3.0 without a window\n");
    return 77;
  }
  printf("%s\n", (const char *)glGetString(GL_RENDERER));

  sbs_skin *skin = NULL;
  sbs_skin_info info = {0};
  sbs_fault fault = {0};
  sbs_status status = bind_tube(&skin, &fault);
  if (status == SBS_OK) status = sbs_skin_get_info(skin, &info);
  if (status == SBS_OK) status = fill_vertices(skin, &fault);

  double matrices[JOINTS][3][4];
  make_pose(matrices);
  const sbs_pose pose = {.skinning_matrices = matrices, .scalar = SBS_FLOAT64, .rows = 3};
  float palette[JOINTS][TEXELS][4], set_centers[16][4];
  if (info.joint_set_count > 16) status = SBS_ERROR_TOO_LARGE;
  if (status == SBS_OK) status = sbs_pose_palette(skin, 1, &pose, NULL, palette[0][0], set_centers[0], NULL, &fault);

  int agrees = 1;
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds && status == SBS_OK; k++) {
    sbs_deform_options options = sbs_default_deform_options();
    options.center = kinds[k].center;
    options.amount = amounts;
    status = sbs_skin_deform(skin, &pose, &options, by_library, normals_by_library, NULL, &fault);
    const GLuint program = link_program(kinds[k].define, spherical, own);
    agrees &= program && draw(program, palette[0][0], info.joint_set_count, set_centers[0]) && compare(kinds[k].name);
  }
  if (status != SBS_OK) fprintf(stderr, "%s: %s\n", fault.argument ? fault.argument : "", sbs_status_string(status));
  sbs_skin_free(skin);
  free(spherical);
  free(own);
  return status == SBS_OK && agrees ? 0 : 1;
}
