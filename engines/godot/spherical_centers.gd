# SPDX-License-Identifier: MIT
## Keeps centers of rotation when Godot 4 imports a file of `sbs convert --engine`.
##
## Godot drops attributes whose names begin with `_`, but imports TEXCOORD_2 and TEXCOORD_3 as CUSTOM0, four floats as
## they are. So this has the two coordinates read the bytes of `_SBS_CENTER`: x and y, then z and the amount.
## Not run in Godot 4.
@tool
class_name SphericalCenters
extends GLTFDocumentExtension

const FLOAT := 5126


func _import_preflight(state: GLTFState, _extensions: PackedStringArray) -> Error:
	var json := state.json
	for mesh: Dictionary in json.get("meshes", []):
		for primitive: Dictionary in mesh["primitives"]:
			if primitive["attributes"].has("_SBS_CENTER"):
				_add_coordinates(json, primitive["attributes"])
	state.json = json
	return OK


func _add_coordinates(json: Dictionary, attributes: Dictionary) -> void:
	var centers: Dictionary = json["accessors"][int(attributes["_SBS_CENTER"])]
	if int(centers["componentType"]) != FLOAT or centers["type"] != "VEC4" or not centers.has("bufferView"):
		push_warning("_SBS_CENTER was changed since it was written, and is left out")
		return
	var view: Dictionary = json["bufferViews"][int(centers["bufferView"])].duplicate()
	view["byteStride"] = int(view.get("byteStride", 16))
	json["bufferViews"].append(view)
	var accessors: Array = json["accessors"]
	for half in 2:
		var numbers := {"componentType": FLOAT, "type": "VEC2", "count": int(centers["count"])}
		numbers["bufferView"] = json["bufferViews"].size() - 1
		numbers["byteOffset"] = int(centers.get("byteOffset", 0)) + 8 * half
		attributes["TEXCOORD_%d" % (2 + half)] = accessors.size()
		accessors.append(numbers)
