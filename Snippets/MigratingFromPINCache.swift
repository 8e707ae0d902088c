import Eidetic

// PINMemoryCache(name:), costLimit, ageLimit, setObject(_:forKey:withCost:ageLimit:)
let memory = MemoryCache<[UInt8]>(costLimit: .mebibytes(10))
memory.insert([1, 2, 3], for: CacheKey("key"), cost: 3, timeToLive: .seconds(60))
print(memory[CacheKey("key")]?.count ?? 0)
memory.trim(toCost: .mebibytes(5), order: .costliestFirst)
memory.removeExpired()

// PINDiskCache(name:rootPath:), byteLimit, ageLimit: set at creation
var configuration = DiskCache.Configuration(directory: DiskCache.defaultDirectory(namespace: "things"))
configuration.sizeLimit = .mebibytes(50)
configuration.maximumAge = .seconds(30 * 86_400)
let disk = try DiskCache(configuration)

// setObjectAsync(_:forKey:), object(forKeyAsync:), containsObject(forKeyAsync:), removeObject(forKeyAsync:)
try await disk.insert([1, 2, 3], for: "key")
print(try await disk.read("key")?.bytes.count ?? 0, try await disk.contains("key"))
try await disk.remove("key")

// The blocking functions; fileURL(forKey:), enumerateObjects, byteCount, trimToSize, removeExpiredObjects
struct Note: Codable { var text: String }
try disk.blocking.insert(Note(text: "any Codable value"), for: "note", with: .json)
print(try disk.blocking.value(for: "note", with: DiskCache.Serializer<Note>.json)?.text ?? "")
print(disk.path(for: "note"), disk.blocking.usage.allocatedSize)
for entry in try disk.blocking.entries() { print(entry.key, entry.size) }
try disk.blocking.trim(toSize: .mebibytes(10))
try disk.blocking.removeExpired()

// willAddObjectBlock, didAddObjectBlock, willRemoveObjectBlock, didRemoveObjectBlock
var hooks = DiskCache.Hooks()
hooks.didAdd = { key, count in print("\(key): \(count) bytes") }
disk.setHooks(hooks)
