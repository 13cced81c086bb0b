# SPDX-License-Identifier: MIT
## Moves a surface of the MeshInstance3D that this node is a child of, by spherical.glsl, in each frame.
##
## The mesh comes from a file of `sbs convert --engine`, imported with spherical_centers.gd. The surface has a
## ShaderMaterial with the uniform `moved` (README.md). Not run in Godot 4.
class_name SphericalSkinning
extends Node

const SHADER := preload("spherical.glsl")
## Vertices in each row of the image, as in spherical.glsl.
const COLUMNS := 1024
## Invocations of a workgroup, as in spherical.glsl.
const GROUP := 64

@export var surface := 0

var _skeleton: Skeleton3D
var _skin: Skin
var _vertex_count := 0
var _moved := Texture2DRD.new()

# What the rendering device holds.
var _device: RenderingDevice
var _pipeline: RID
var _uniforms: RID
var _palette: RID
var _image: RID
var _owned: Array[RID] = []


func _ready() -> void:
	var instance: MeshInstance3D = get_parent()
	_skeleton = instance.get_node(instance.skeleton)
	_skin = instance.skin
	instance.skeleton = NodePath()  # Godot blends linearly no more
	var box := instance.mesh.get_aabb()
	instance.custom_aabb = box.grow(box.size.length())
	(instance.get_active_material(surface) as ShaderMaterial).set_shader_parameter("moved", _moved)
	process_priority = 1000  # after animations and inverse kinematics

	var arrays := instance.mesh.surface_get_arrays(surface)
	_vertex_count = arrays[Mesh.ARRAY_VERTEX].size()
	var bones: PackedInt32Array = arrays[Mesh.ARRAY_BONES]
	var influences := bones.size() / _vertex_count
	var counts := PackedInt32Array([_vertex_count, influences]).to_byte_array()
	var weights := _with_sum_one(arrays[Mesh.ARRAY_WEIGHTS], influences)
	var buffers: Array[PackedByteArray] = [
		counts, _vertices(arrays).to_byte_array(), bones.to_byte_array(), weights.to_byte_array(), _palette_bytes()
	]
	RenderingServer.call_on_render_thread(_start.bind(buffers))


func _process(_delta: float) -> void:
	RenderingServer.call_on_render_thread(_dispatch.bind(_palette_bytes()))
	_moved.texture_rd_rid = _image


func _exit_tree() -> void:
	_moved.texture_rd_rid = RID()
	RenderingServer.call_on_render_thread(_stop)


## Sixteen floats a vertex: position, normal, tangent, and CUSTOM0, the center and the amount.
func _vertices(arrays: Array) -> PackedFloat32Array:
	var positions: PackedVector3Array = arrays[Mesh.ARRAY_VERTEX]
	var normals: PackedVector3Array = arrays[Mesh.ARRAY_NORMAL]
	var tangents: PackedFloat32Array = arrays[Mesh.ARRAY_TANGENT]
	var centers: PackedFloat32Array = arrays[Mesh.ARRAY_CUSTOM0]
	var rows := PackedFloat32Array()
	for i in _vertex_count:
		var position := positions[i]
		var normal := normals[i]
		rows.append_array([position.x, position.y, position.z, 0.0, normal.x, normal.y, normal.z, 0.0])
		rows.append_array(tangents.slice(4 * i, 4 * i + 4))
		rows.append_array(centers.slice(4 * i, 4 * i + 4))
	return rows


## Meshes hold weights as 16 bits, rounded down: the heaviest takes what is missing.
func _with_sum_one(stored: PackedFloat32Array, influences: int) -> PackedFloat32Array:
	var weights := stored.duplicate()
	for first in range(0, weights.size(), influences):
		var others := 0.0
		for i in range(first + 1, first + influences):
			others += weights[i]
		if weights[first] > 0.0:
			weights[first] = 1.0 - others
	return weights


## Sixteen floats a joint, in the order of the skin: three rows of a matrix, and a quaternion.
func _palette_bytes() -> PackedByteArray:
	var rows := PackedFloat32Array()
	for i in _skin.get_bind_count():
		var bone := _skin.get_bind_bone(i)
		if bone < 0:
			bone = _skeleton.find_bone(_skin.get_bind_name(i))
		var matrix := _skeleton.get_bone_global_pose(bone) * _skin.get_bind_pose(i)
		var basis := matrix.basis
		var origin := matrix.origin
		rows.append_array([basis.x.x, basis.y.x, basis.z.x, origin.x])
		rows.append_array([basis.x.y, basis.y.y, basis.z.y, origin.y])
		rows.append_array([basis.x.z, basis.y.z, basis.z.z, origin.z])
		var turn := basis.get_rotation_quaternion() * pow(absf(basis.determinant()), 1.0 / 6.0)
		rows.append_array([turn.x, turn.y, turn.z, turn.w])
	return rows.to_byte_array()


func _start(buffers: Array[PackedByteArray]) -> void:
	_device = RenderingServer.get_rendering_device()
	var shader := _device.shader_create_from_spirv(SHADER.get_spirv())
	var uniforms: Array[RDUniform] = []
	for bytes in buffers:
		_owned.append(_device.storage_buffer_create(bytes.size(), bytes))
		uniforms.append(_uniform(RenderingDevice.UNIFORM_TYPE_STORAGE_BUFFER, uniforms.size(), _owned[-1]))
	_palette = _owned[-1]

	var format := RDTextureFormat.new()
	format.format = RenderingDevice.DATA_FORMAT_R32G32B32A32_SFLOAT
	format.width = 3 * COLUMNS
	format.height = ceili(float(_vertex_count) / COLUMNS)
	format.usage_bits = RenderingDevice.TEXTURE_USAGE_STORAGE_BIT | RenderingDevice.TEXTURE_USAGE_SAMPLING_BIT
	_image = _device.texture_create(format, RDTextureView.new())
	uniforms.append(_uniform(RenderingDevice.UNIFORM_TYPE_IMAGE, uniforms.size(), _image))

	_uniforms = _device.uniform_set_create(uniforms, shader, 0)
	_pipeline = _device.compute_pipeline_create(shader)
	_owned.append_array([_image, shader])  # the set and the pipeline go with these


func _uniform(kind: RenderingDevice.UniformType, binding: int, id: RID) -> RDUniform:
	var uniform := RDUniform.new()
	uniform.uniform_type = kind
	uniform.binding = binding
	uniform.add_id(id)
	return uniform


func _dispatch(palette: PackedByteArray) -> void:
	_device.buffer_update(_palette, 0, palette.size(), palette)
	var list := _device.compute_list_begin()
	_device.compute_list_bind_compute_pipeline(list, _pipeline)
	_device.compute_list_bind_uniform_set(list, _uniforms, 0)
	_device.compute_list_dispatch(list, ceili(float(_vertex_count) / GROUP), 1, 1)
	_device.compute_list_end()


func _stop() -> void:
	for id in _owned:
		_device.free_rid(id)
