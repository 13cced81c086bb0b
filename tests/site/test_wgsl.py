# SPDX-License-Identifier: MIT
"""The compute shader of `sbs.gpu` by WebGPU in a browser. tests/python/test_gpu.py runs it on all characters."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Browser

import sbs
from sbs.options import Center
from sbs.skinning.gpu.shader import CENTERS, describe_influences, describe_vertices, shader_source

# Shares of the size, and of unit normals: as in tests/python/test_gpu.py.
POSITIONS, NORMALS = 6e-7, 5e-7

RUN = """async ([code, constants, inputs, vertices, frames]) => {
  const adapter = await navigator.gpu.requestAdapter();
  const device = await adapter.requestDevice();
  const faults = [];
  device.addEventListener("uncapturederror", (event) => faults.push(event.error.message));
  const module = device.createShaderModule({ code });
  const compute = { module, entryPoint: "main", constants };
  const pipeline = device.createComputePipeline({ layout: "auto", compute });
  const size = 12 * vertices * frames;
  const buffers = inputs.map((text, number) => {
    const data = Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
    const usage = (number ? GPUBufferUsage.STORAGE : GPUBufferUsage.UNIFORM) | GPUBufferUsage.COPY_DST;
    const buffer = device.createBuffer({ size: data.byteLength, usage });
    device.queue.writeBuffer(buffer, 0, data);
    return buffer;
  });
  const made = [0, 1].map(() =>
    device.createBuffer({ size, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC }));
  const entries = [...buffers, ...made].map((buffer, binding) => ({ binding, resource: { buffer } }));
  const group = device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
  const encoder = device.createCommandEncoder();
  const work = encoder.beginComputePass();
  work.setPipeline(pipeline);
  work.setBindGroup(0, group);
  work.dispatchWorkgroups(Math.ceil(vertices / 64), frames);
  work.end();
  const read = made.map((buffer) => {
    const to = device.createBuffer({ size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
    encoder.copyBufferToBuffer(buffer, 0, to, 0, size);
    return to;
  });
  device.queue.submit([encoder.finish()]);
  const texts = [];
  for (const buffer of read) {
    await buffer.mapAsync(GPUMapMode.READ);
    let text = "";
    for (const byte of new Uint8Array(buffer.getMappedRange())) text += String.fromCharCode(byte);
    texts.push(btoa(text));
  }
  return { texts, faults };
}"""


def encode(array: NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


@pytest.mark.parametrize("center", sorted(CENTERS))
def test_compute_shader_in_a_browser(browser: Browser, center: Center) -> None:
    hand = sbs.samples.load("hand")
    skin = hand.optimized_skin()
    matrices = hand.animations[0].skinning_matrices(np.linspace(0.0, 1.0, 4))
    palette = skin.pose_palette(matrices, centers=True)
    assert palette.centers is not None
    influences = describe_influences(skin)
    counts = np.array([skin.vertex_count, palette.joints.shape[1], palette.centers.shape[1], 1], np.uint32)
    inputs = [counts, describe_vertices(skin, center, None), influences, palette.joints, palette.centers]
    constants = {"WIDTH": influences.shape[1], "CENTER": CENTERS[center]}
    page = browser.new_page()
    page.route("**/*", lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
    page.goto("http://localhost/")  # WebGPU is for secure origins alone
    run = [shader_source(), constants, [encode(each) for each in inputs], skin.vertex_count, len(matrices)]
    made = page.evaluate(RUN, run)
    page.close()
    assert made["faults"] == []
    shape = (len(matrices), skin.vertex_count, 3)
    positions, normals = (np.frombuffer(base64.b64decode(text), np.float32).reshape(shape) for text in made["texts"])

    exact = {name: getattr(skin, name).astype(float) for name in ("rest_positions", "rest_normals", "centers")}
    wide = sbs.Skin(**{**skin._arguments(), **exact})
    wanted, directions = wide.deform_many(matrices, normals=True, center=center)
    size = np.linalg.norm(np.ptp(exact["rest_positions"], axis=0))
    assert np.linalg.norm(positions - wanted, axis=-1).max() < POSITIONS * size
    assert np.linalg.norm(normals - directions, axis=-1).max() < NORMALS
