// SPDX-License-Identifier: MIT
// The first page's character: what it is moved by and drawn with. Everything runs in the page; files that are dropped
// on it are sent nowhere.

import { areaColors, areas, plainColors } from "./areas.js";
import { readCharacter } from "./glb.js";
import { Library, METHODS } from "./library.js";
import { add, length, scale, subtract, transform } from "./matrix.js";
import { Turned } from "./pose.js";
import { View } from "./view.js";

const here = (name) => new URL(name, import.meta.url);
const SAMPLES = {
  woman: {
    label: "The woman's arm",
    joint: "LeftForeArm",
    limbs: ["Left", "Right"].flatMap((side) => ["Arm", "ForeArm", "UpLeg", "Leg"].map((limb) => side + limb)),
    turn: Math.PI - 0.35,
    tilt: 0.15,
    twist: 150,
    bend: 60,
    around: 1.25,
  },
  hand: {
    label: "The hand",
    joint: "middle-finger-phalanx-proximal",
    limbs: ["index", "middle", "ring", "pinky"]
      .map((name) => name + "-finger-")
      .flatMap((name) => ["metacarpal", "phalanx-proximal", "phalanx-intermediate"].map((part) => name + part))
      .concat("thumb-phalanx-proximal"),
    turn: 0.5,
    tilt: 0.6,
    twist: 0,
    bend: 90,
    around: 1.9,
  },
};
const LABELS = {
  LBS: "Linear blend skinning",
  "smooth twist": "The default of the add-on for Blender: twists spread along limbs, spherical in part across joints",
  SBS: "Spherical blend skinning, a rotation center for each set of joints",
  DQS: "Dual quaternion skinning",
  optimized: "Spherical blend skinning about optimized centers of rotation, one for each vertex",
  twist: "Spherical blend skinning about weighted centers, twists spread along limbs",
};

const MARKUP = `
  <div class="try-view"><canvas aria-label="The character. Drag to turn it, wheel to zoom." tabindex="0"></canvas>
    <p class="try-drop">Drop the GLB file of a character</p></div>
  <form class="try-controls">
    <fieldset class="try-methods"><legend>Method</legend></fieldset>
    <label class="try-slider">
      Bend <input name="bend" type="range" min="-150" max="150" step="1"><output></output>
    </label>
    <label class="try-slider">
      Twist <input name="twist" type="range" min="-179" max="179" step="1"><output></output>
    </label>
    <label><input name="areas" type="checkbox"> Areas as colors: red where the skin shrinks, blue where it grows</label>
    <label>Character <select name="sample"></select></label>
    <label>Joint <select name="joint"></select></label>
    <button type="button" name="all">Whole figure</button>
    <label class="try-file">A GLB file of your own <input name="file" type="file" accept=".glb"></label>
    <p class="try-status" role="status"></p>
  </form>`;

class Page {
  constructor(root, library) {
    root.innerHTML = MARKUP;
    this.root = root;
    this.library = library;
    this.form = root.querySelector("form");
    this.controls = this.form.elements;
    this.status = root.querySelector(".try-status");
    this.view = new View(root.querySelector("canvas"), () => this.redraw());
    this.times = [];
    this.fillChoices();
    this.listen();
  }

  fillChoices() {
    const methods = this.root.querySelector(".try-methods");
    METHODS.forEach((name, i) => {
      const label = document.createElement("label");
      label.title = LABELS[name];
      label.innerHTML = `<input type="radio" name="method" value="${i}"><span>${name}</span>`;
      methods.append(label);
    });
    this.controls.method.value = METHODS.indexOf("smooth twist");
    for (const [name, { label }] of Object.entries(SAMPLES)) this.controls.sample.add(new Option(label, name));
  }

  listen() {
    this.form.addEventListener("submit", (event) => event.preventDefault());
    for (const name of ["bend", "twist", "areas"]) this.controls[name].addEventListener("input", () => this.goOn());
    for (const radio of this.controls.method) radio.addEventListener("input", () => this.goOn());
    const joint = this.controls.joint;
    joint.addEventListener("input", () => this.guard(() => this.chooseJoint(Number(joint.value))));
    this.controls.all.addEventListener("click", () => this.guard(() => this.showAll()));
    this.controls.sample.addEventListener("input", () => this.guard(() => this.loadSample(this.controls.sample.value)));
    this.controls.file.addEventListener("input", () => this.guard(() => this.loadFile(this.controls.file.files[0])));
    this.root.addEventListener("dragover", (event) => {
      event.preventDefault();
      this.root.classList.add("try-over");
    });
    this.root.addEventListener("dragleave", () => this.root.classList.remove("try-over"));
    this.root.addEventListener("drop", (event) => {
      event.preventDefault();
      this.root.classList.remove("try-over");
      this.guard(() => this.loadFile(event.dataTransfer.files[0]));
    });
    new ResizeObserver(() => this.redraw()).observe(this.view.canvas);
  }

  /** Runs something that may fail for reasons that whoever looks at the page should be told. */
  async guard(action) {
    try {
      await action();
    } catch (error) {
      this.status.textContent = error.message;
      this.root.dataset.state = "failed";
    }
  }

  async loadSample(name) {
    const sample = SAMPLES[name];
    const response = await fetch(here(`${name}.glb`));
    if (!response.ok) throw new Error(`${name}.glb could not be loaded.`);
    this.take(readCharacter(await response.arrayBuffer()), sample);
  }

  async loadFile(file) {
    if (!file) return;
    const character = readCharacter(await file.arrayBuffer());
    if (!this.controls.sample.querySelector("[value=file]")) this.controls.sample.add(new Option(file.name, "file"));
    const option = this.controls.sample.querySelector("[value=file]");
    option.textContent = file.name;
    option.disabled = true; // it is there as long as it is shown
    this.controls.sample.value = "file";
    this.take(character, { turn: 0.5, tilt: 0.2, twist: 0, bend: 0, around: 1.5 });
    this.showAll();
  }

  take(character, { joint: jointName, limbs, turn, tilt, twist, bend, around }) {
    this.around = around; // how far the view reaches, in lengths of the bones that meet at the joint
    this.library.bind(character);
    this.character = character;
    this.limbsAreKnown = limbs !== undefined;
    if (limbs) this.spreadTwists(limbs.map((name) => character.names.indexOf(name)));
    this.restAreas = null;
    this.colors = new Float32Array(3 * character.vertexCount);
    this.plain = plainColors(character.vertexCount);
    this.view.setTriangles(character.triangles);
    const { names, nodes, parents } = character;
    const again = (j) => parents[j] >= 0 && nodes[j] === nodes[parents[j]]; // it moves with the first of its node
    const options = names.flatMap((name, j) => (again(j) ? [] : [new Option(name, j)]));
    this.controls.joint.replaceChildren(...options);
    this.view.frame([0, 0, 0], 1, turn, tilt);
    this.controls.twist.value = twist;
    this.controls.bend.value = bend;
    const named = character.names.indexOf(jointName);
    const joint = named >= 0 ? named : this.heaviestPair();
    this.controls.joint.value = joint;
    this.chooseJoint(joint);
  }

  /** The joint that most vertices share with its parent: where a bend shows. */
  heaviestPair() {
    const { joints, weights, influences, parents, vertexCount } = this.character;
    const shared = new Float64Array(parents.length);
    for (let v = 0; v < vertexCount; v++) {
      const weightOf = new Map();
      for (let k = influences * v; k < influences * (v + 1); k++) {
        weightOf.set(joints[k], (weightOf.get(joints[k]) ?? 0) + weights[k]);
      }
      for (const [joint, weight] of weightOf) shared[joint] += weight * (weightOf.get(parents[joint]) ?? 0);
    }
    return shared.indexOf(Math.max(...shared));
  }

  chooseJoint(joint) {
    this.turned = new Turned(this.character, joint);
    if (!this.limbsAreKnown) this.spreadTwists([joint]);
    const { head, tail, rest, pivot } = this.turned;
    const end = transform(rest.subarray(12 * joint, 12 * joint + 12), tail);
    const parent = this.character.parents[joint];
    const above = parent < 0 ? head : [...this.character.bind.subarray(3 * parent, 3 * parent + 3)];
    const start = parent < 0 ? pivot : transform(rest.subarray(12 * parent, 12 * parent + 12), above);
    this.view.center = pivot;
    this.view.radius = this.around * Math.max(length(subtract(end, pivot)), length(subtract(start, pivot)), 1e-6);
    for (let i = 0; i < 10; i++) this.deform(); // the first runs of a module are slower
    this.times = [];
    this.goOn();
  }

  /** Spreads twists along the bones of joints; that of a joint whose parent is one of them only along its own. */
  spreadTwists(joints) {
    const limbs = joints.map((joint) => new Turned(this.character, joint));
    this.library.spreadTwists(
      limbs.map(({ joint, child, head, tail }) => ({ joint, child: joints.includes(child) ? -1 : child, head, tail })),
    );
  }

  /** Shows the whole figure, as it is posed. */
  showAll() {
    const { positions } = this.deform();
    const low = [Infinity, Infinity, Infinity];
    const high = [-Infinity, -Infinity, -Infinity];
    positions.forEach((value, i) => {
      low[i % 3] = Math.min(low[i % 3], value);
      high[i % 3] = Math.max(high[i % 3], value);
    });
    this.view.center = scale(add(low, high), 0.5);
    this.view.radius = Math.max(0.5 * length(subtract(high, low)), 1e-6);
    this.goOn();
  }

  /** Draws, and no longer says what went wrong before. */
  goOn() {
    this.root.dataset.state = "ready";
    this.redraw();
  }

  get method() {
    return Number(this.controls.method.value);
  }

  redraw() {
    if (this.waiting || !this.turned) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      this.guard(() => this.draw());
    });
  }

  /** Deforms in the pose of the sliders. */
  deform() {
    const [bend, twist] = ["bend", "twist"].map((name) => (Number(this.controls[name].value) * Math.PI) / 180);
    this.matrices = this.turned.matrices(bend, twist);
    this.library.findCenters(this.method);
    const start = performance.now();
    const frame = this.library.deform(this.method, this.matrices);
    this.times.push(performance.now() - start);
    this.times = this.times.slice(-30);
    return frame;
  }

  draw() {
    const colored = this.controls.areas.checked;
    if (colored) this.restAreas ??= this.areasAtRest();
    const { positions, normals } = this.deform();
    const { triangles, vertexCount } = this.character;
    let color = this.plain;
    if (colored) {
      color = areaColors(areas(positions, triangles), this.restAreas, triangles, vertexCount, this.colors);
    }
    for (const name of ["bend", "twist"]) {
      this.controls[name].nextElementSibling.textContent = `${this.controls[name].value}°`;
    }
    this.view.draw({ position: positions, normal: normals, color });
    if (this.root.dataset.state !== "ready") return;
    const usual = [...this.times].sort((a, b) => a - b)[this.times.length >> 1];
    const { unskinned } = this.character;
    const leftOut = unskinned ? `; left out: ${unskinned} ${unskinned > 1 ? "meshes" : "mesh"} without a skin` : "";
    const count = vertexCount.toLocaleString("en");
    this.status.textContent = `${count} vertices deformed in ${usual.toFixed(1)} ms${leftOut}`;
  }

  /** Those of the rest pose in the scene, with whatever scale it has there. */
  areasAtRest() {
    return areas(this.library.deform(0, this.turned.rest).positions, this.character.triangles);
  }
}

const root = document.getElementById("try");
if (root) {
  try {
    const page = new Page(root, await Library.load(here("sbs.wasm")));
    window.sbsPage = page; // for tests, and for whoever is curious
    await page.guard(() => page.loadSample("woman"));
  } catch (error) {
    root.dataset.state = "failed";
    root.textContent = `This page can't show the character: ${error.message}`;
  }
}
