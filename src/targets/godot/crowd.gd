@tool
extends MultiMeshInstance3D
## A crowd that plays a bake of vatbake: one draw call for each material, no skeleton.
##
## The mesh comes from the imported GLB; each of its materials becomes a copy of vat_material with the same colours and textures.
## Each instance carries Color(first frame, intervals, frames a second, start time), which the shader reads as INSTANCE_CUSTOM.

## NAME_vat.glb: the static mesh of the bake.
@export var model: PackedScene:
	set(value):
		model = value
		_rebuild_soon()
## NAME_vat.tres: the material that reads the bake's textures.
@export var vat_material: ShaderMaterial:
	set(value):
		vat_material = value
		_rebuild_soon()
## How many instances stand there.
@export_range(1, 100000, 1, "or_greater") var count := 100:
	set(value):
		count = value
		_rebuild_soon()
## Metres between two neighbours.
@export var spacing := 1.0:
	set(value):
		spacing = value
		_rebuild_soon()
## Lets clips that play once start over, so that the crowd does not stand still.
@export var repeat_all := true:
	set(value):
		repeat_all = value
		_rebuild_soon()
## Off: the shader's TIME, which gives motion vectors. On: this node's clock, which stops with the tree and lets play() start a clip
## at once.
@export var own_clock := false
## Names of the clips, in the order of the bake.
@export var clip_names := PackedStringArray()
## First frame, intervals and frames a second of each clip; negative intervals play once.
@export var clips := PackedVector3Array()
## Box of the model over all clips: what one instance may reach.
@export var model_bounds := AABB()

# 32-bit seconds jitter after hours, so the clock starts anew.
const CLOCK_PERIOD := 3600.0
# What a surface's CUSTOM0 to CUSTOM3 are made of: UV sets from the third on lie there.
const CUSTOM_FORMATS := ((1 << (4 * Mesh.ARRAY_FORMAT_CUSTOM_BITS)) - 1) << Mesh.ARRAY_FORMAT_CUSTOM_BASE

var _clock := 0.0
var _materials: Array[ShaderMaterial] = []
var _is_queued := false


func _ready() -> void:
	rebuild()


func _process(delta: float) -> void:
	if own_clock and not Engine.is_editor_hint():
		_clock += delta
		if _clock >= CLOCK_PERIOD:
			_clock -= CLOCK_PERIOD
			_rebase(CLOCK_PERIOD)
		for material in _materials:
			material.set_shader_parameter("vat_clock", _clock)


func _validate_property(property: Dictionary) -> void:
	# made anew each time, so that no scene holds a copy of the mesh
	if property.name == "multimesh":
		property.usage &= ~PROPERTY_USAGE_STORAGE


## Makes the crowd again, from the properties above.
func rebuild() -> void:
	_is_queued = false
	if model == null or vat_material == null or clips.is_empty():
		push_error("%s has no model, vat_material or clips; use the .tscn that vatbake wrote, or set all three" % name)
		return
	var mesh := _take_mesh()
	if mesh == null:
		push_error("there is no mesh in %s; reimport it, and bake again if that does not help" % model.resource_path)
		return
	var crowd := MultiMesh.new()
	# the format first: Godot refuses to change it once there are instances
	crowd.transform_format = MultiMesh.TRANSFORM_3D
	crowd.use_custom_data = true
	crowd.mesh = mesh
	crowd.instance_count = count
	var random := RandomNumberGenerator.new()
	random.seed = 1
	var columns := ceili(sqrt(count))
	var rows := ceili(float(count) / columns)
	for i in count:
		@warning_ignore("integer_division")
		var row := i / columns
		var place := Vector3(i % columns - (columns - 1) / 2.0, 0.0, row - (rows - 1) / 2.0) * spacing
		crowd.set_instance_transform(i, Transform3D(Basis.IDENTITY, place))
		var number := i % clips.size()
		var seconds := absf(clips[number].y) / maxf(clips[number].z, 0.001)
		crowd.set_instance_custom_data(i, _clip(number, repeat_all, -random.randf() * seconds))
	multimesh = crowd
	# Godot culls by the rest pose unless it is told how far the animation reaches
	var reach := Vector3(columns - 1, 0.0, rows - 1) * spacing
	custom_aabb = AABB(model_bounds.position - reach / 2.0, model_bounds.size + reach)


## Starts a clip on an instance now. Needs own_clock: a script cannot ask for the shader's TIME.
func play(instance: int, clip_name: String, is_repeated := true) -> void:
	var number := clip_names.find(clip_name)
	if number < 0:
		push_error("there is no clip \"%s\"; the bake has %s" % [clip_name, ", ".join(clip_names)])
		return
	if not own_clock:
		push_error("play() needs own_clock: turn it on in the inspector of %s" % name)
		return
	multimesh.set_instance_custom_data(instance, _clip(number, is_repeated, _clock))


func _clip(number: int, is_repeated: bool, start: float) -> Color:
	var clip := clips[number]
	return Color(clip.x, absf(clip.y) if is_repeated else clip.y, clip.z, start)


## The clock went back: so do the instances, or clips would jump.
func _rebase(seconds: float) -> void:
	if multimesh == null:
		return
	for i in multimesh.instance_count:
		var data := multimesh.get_instance_custom_data(i)
		# a still frame keeps its number, a repeated clip its phase
		if data.b == 0.0:
			continue
		data.a -= seconds
		if data.g > 0.0:
			data.a = fmod(data.a, data.g / data.b)
		multimesh.set_instance_custom_data(i, data)


func _rebuild_soon() -> void:
	if is_node_ready() and not _is_queued:
		_is_queued = true
		rebuild.call_deferred()


## The surfaces of all meshes of the model as one mesh, each with a material that plays the bake. The nodes have no transforms.
func _take_mesh() -> ArrayMesh:
	var root := model.instantiate()
	var nodes: Array[Node] = root.find_children("*", "MeshInstance3D", true, false)
	if root is MeshInstance3D:
		nodes.append(root)
	var taken := ArrayMesh.new()
	_materials.clear()
	for node: MeshInstance3D in nodes:
		var mesh := node.mesh as ArrayMesh
		if mesh == null:
			continue
		for i in mesh.get_surface_count():
			var arrays := mesh.surface_get_arrays(i)
			var format := int(mesh.surface_get_format(i)) & CUSTOM_FORMATS
			taken.add_surface_from_arrays(mesh.surface_get_primitive_type(i), arrays, [], {}, format)
			var material := _material_like(node.get_active_material(i))
			taken.surface_set_material(taken.get_surface_count() - 1, material)
			_materials.append(material)
	root.free()
	return taken if taken.get_surface_count() > 0 else null


## A copy of vat_material that looks like a material of the GLB.
func _material_like(source: Material) -> ShaderMaterial:
	var material := vat_material.duplicate() as ShaderMaterial
	var base := source as BaseMaterial3D
	if base == null:
		return material
	var values := {
		"albedo": base.albedo_color,
		"albedo_texture": base.albedo_texture,
		"albedo_from_vertices": base.vertex_color_use_as_albedo,
		"metallic": base.metallic,
		"metallic_texture": base.metallic_texture,
		"roughness": base.roughness,
		"roughness_texture": base.roughness_texture,
		"uv_scale": Vector2(base.uv1_scale.x, base.uv1_scale.y),
		"uv_offset": Vector2(base.uv1_offset.x, base.uv1_offset.y),
	}
	if base.normal_enabled:
		values["normal_texture"] = base.normal_texture
		values["normal_scale"] = base.normal_scale
	if base.emission_enabled:
		values["emission"] = base.emission
		values["emission_energy"] = base.emission_energy_multiplier
		values["emission_texture"] = base.emission_texture
	if base.transparency == BaseMaterial3D.TRANSPARENCY_ALPHA_SCISSOR:
		values["alpha_scissor"] = base.alpha_scissor_threshold
	for key: String in values:
		if values[key] != null:
			material.set_shader_parameter(key, values[key])
	if base.cull_mode == BaseMaterial3D.CULL_DISABLED:
		material.shader = _two_sided(material.shader)
	return material


## The same shader without culling. It has no file of its own, so the include must name its folder.
func _two_sided(shader: Shader) -> Shader:
	var twin := Shader.new()
	var folder := shader.resource_path.get_base_dir()
	var code := shader.code.replace("cull_back", "cull_disabled")
	twin.code = code.replace("#include \"vat.gdshaderinc\"", "#include \"%s\"" % folder.path_join("vat.gdshaderinc"))
	return twin
