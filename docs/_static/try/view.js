// SPDX-License-Identifier: MIT
// A mesh in WebGL 2, lit from the camera, with a color for each vertex. Dragging turns it, the wheel or two fingers
// zoom.

import { add, cross, normalize, scale } from "./matrix.js";

const VERTEX = `#version 300 es
in vec3 position, normal, color;
uniform mat4 camera;
out vec3 seenNormal, seenColor;
void main() {
  gl_Position = camera * vec4(position, 1.0);
  seenNormal = normal;
  seenColor = color;
}`;

const FRAGMENT = `#version 300 es
precision highp float;
in vec3 seenNormal, seenColor;
uniform vec3 toEye;
out vec4 pixel;
void main() {
  vec3 n = normalize(seenNormal);
  float light = abs(dot(n, toEye));
  pixel = vec4(seenColor * (0.25 + 0.75 * light), 1.0);
}`;

function program(gl) {
  const made = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  return made;
}

export class View {
  constructor(canvas, changed) {
    this.canvas = canvas;
    this.gl = canvas.getContext("webgl2", { antialias: true, alpha: true });
    if (!this.gl) throw new Error("This browser has no WebGL 2.");
    const { gl } = this;
    this.program = program(gl);
    this.buffers = Object.fromEntries(["position", "normal", "color"].map((name) => [name, gl.createBuffer()]));
    for (const [name, buffer] of Object.entries(this.buffers)) {
      const place = gl.getAttribLocation(this.program, name);
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, 3, gl.FLOAT, false, 0, 0);
    }
    this.indices = gl.createBuffer();
    this.listen(changed);
  }

  listen(changed) {
    const fingers = new Map();
    const apart = () => {
      const [a, b] = [...fingers.values()];
      return Math.hypot(a.x - b.x, a.y - b.y);
    };
    this.canvas.addEventListener("pointerdown", (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    });
    this.canvas.addEventListener("pointermove", (event) => {
      const before = fingers.get(event.pointerId);
      if (!before) return;
      const wide = fingers.size === 2 ? apart() : 0;
      fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
      if (wide) {
        this.zoom(wide / apart());
      } else {
        this.turn -= (event.clientX - before.x) / 150;
        this.tilt = Math.min(1.5, Math.max(-1.5, this.tilt + (event.clientY - before.y) / 150));
      }
      changed();
    });
    for (const name of ["pointerup", "pointercancel"]) {
      this.canvas.addEventListener(name, (event) => fingers.delete(event.pointerId));
    }
    this.canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        this.zoom(Math.exp(event.deltaY / 800));
        changed();
      },
      { passive: false },
    );
  }

  zoom(factor) {
    this.radius *= factor;
  }

  /** Shows what is within a radius about a center, from the direction (turn about y, tilt above the horizon). */
  frame(center, radius, turn, tilt) {
    Object.assign(this, { center, radius, turn, tilt });
  }

  setTriangles(triangles) {
    const { gl } = this;
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.indices);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, Uint32Array.from(triangles), gl.STATIC_DRAW);
    this.count = triangles.length;
  }

  draw(arrays) {
    const { gl, canvas } = this;
    const density = window.devicePixelRatio || 1;
    const shown = [canvas.clientWidth, canvas.clientHeight];
    const [width, height] = shown.map((size) => Math.max(1, Math.round(size * density)));
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    for (const [name, array] of Object.entries(arrays)) {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[name]);
      gl.bufferData(gl.ARRAY_BUFFER, array, gl.DYNAMIC_DRAW);
    }
    gl.useProgram(this.program);
    const level = Math.cos(this.tilt);
    const toEye = [Math.sin(this.turn) * level, Math.sin(this.tilt), Math.cos(this.turn) * level];
    gl.uniformMatrix4fv(gl.getUniformLocation(this.program, "camera"), false, this.camera(toEye, width / height));
    gl.uniform3fv(gl.getUniformLocation(this.program, "toEye"), toEye);
    gl.drawElements(gl.TRIANGLES, this.count, gl.UNSIGNED_INT, 0);
  }

  /** A perspective camera, column by column as WebGL takes it. */
  camera(toEye, aspect) {
    const right = normalize(cross([0, 1, 0], toEye));
    const up = cross(toEye, right);
    const focal = 3;
    const narrow = Math.min(1, aspect);
    const distance = (this.radius * focal) / narrow;
    const eye = add(this.center, scale(toEye, distance));
    const [near, far] = [distance / 50, distance * 10];
    const rows = [
      scale(right, focal / aspect),
      scale(up, focal),
      scale(toEye, (far + near) / (near - far)),
      scale(toEye, -1),
    ];
    const shifts = [0, 0, (2 * far * near) / (near - far), 0];
    const out = new Float32Array(16);
    rows.forEach((row, i) => {
      row.forEach((value, j) => (out[4 * j + i] = value));
      out[12 + i] = shifts[i] - (row[0] * eye[0] + row[1] * eye[1] + row[2] * eye[2]);
    });
    return out;
  }
}
