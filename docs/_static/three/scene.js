// SPDX-License-Identifier: MIT
// The scene of the page "In three.js": one character three times, each by another method, with shadows.

import * as THREE from "three";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { sphericalSkinning } from "three-spherical-skinning";

const here = (name) => new URL(name, import.meta.url).href;
const HEIGHT = 1.7; // meters
const APART = 1.4;
const WIDTH = Math.tan(Math.PI / 7.2); // half of what is seen from left to right, at a distance of 1
const CLAY = new THREE.MeshStandardMaterial({ color: "#d8b49c", roughness: 0.75 });
const COPIES = [
  { label: "linear", file: "plain.glb" },
  { label: "spherical, the same file", file: "plain.glb", spherical: true },
  { label: "smooth twist", file: "smooth_twist.glb", spherical: true },
];

async function addCharacter(scene, { file, spherical }, place) {
  const gltf = await new GLTFLoader().loadAsync(here(file));
  const box = new THREE.Box3().setFromObject(gltf.scene), scale = HEIGHT / (box.max.y - box.min.y);
  gltf.scene.scale.setScalar(scale);
  gltf.scene.position.set(place, -scale * box.min.y, 0);
  gltf.scene.traverse((object) => {
    if (!object.isSkinnedMesh) return;
    object.castShadow = object.receiveShadow = true;
    object.material = CLAY;
    if (spherical) sphericalSkinning(object);
  });
  scene.add(gltf.scene);
  const mixer = new THREE.AnimationMixer(gltf.scene);
  mixer.clipAction(gltf.animations[0]).play();
  return mixer;
}

function addLight(scene) {
  const sun = new THREE.DirectionalLight("white", 2.5);
  sun.position.set(1.5, 3, 2.5);
  sun.castShadow = true;
  sun.shadow.mapSize.set(2048, 2048);
  Object.assign(sun.shadow.camera, { left: -2, right: 2, bottom: -1, top: 2.5 });
  scene.add(sun, new THREE.HemisphereLight("white", "#8a7f76", 1.2));
}

function addGround(scene) {
  const ground = new THREE.Mesh(new THREE.CircleGeometry(4, 64), new THREE.ShadowMaterial({ opacity: 0.25 }));
  ground.rotation.x = -Math.PI / 2;
  ground.receiveShadow = true;
  scene.add(ground);
}

async function show(root) {
  const renderer = new THREE.WebGLRenderer({ antialias: true, alpha: true });
  renderer.setPixelRatio(window.devicePixelRatio);
  renderer.shadowMap.enabled = true;
  root.prepend(renderer.domElement);
  const scene = new THREE.Scene(), camera = new THREE.PerspectiveCamera(30, 1, 0.1, 30);
  camera.position.set(0, 1.1, 4.5);
  const controls = new OrbitControls(camera, renderer.domElement);
  controls.target.set(0, 0.83, 0);
  addLight(scene);
  addGround(scene);
  const mixers = await Promise.all(COPIES.map((copy, number) => addCharacter(scene, copy, (number - 1) * APART)));

  const fit = () => {
    const { clientWidth: width, clientHeight: height } = root;
    renderer.setSize(width, height, false);
    camera.aspect = width / height;
    camera.fov = THREE.MathUtils.radToDeg(2 * Math.atan(WIDTH / camera.aspect));
    camera.updateProjectionMatrix();
  };
  new ResizeObserver(fit).observe(root);
  fit();
  const clock = new THREE.Clock();
  renderer.setAnimationLoop(() => {
    const seconds = clock.getDelta();
    for (const mixer of mixers) mixer.update(seconds);
    controls.update();
    renderer.render(scene, camera);
    root.dataset.state = "ready";
  });
}

const root = document.getElementById("scene");
const labels = document.createElement("p");
labels.replaceChildren(...COPIES.map(({ label }) => Object.assign(document.createElement("span"), { textContent: label })));
root.append(labels);
show(root).catch((error) => {
  labels.textContent = `The scene can't be shown: ${error.message}`;
  root.dataset.state = "failed";
});
