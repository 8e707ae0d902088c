import Eidetic
import EideticStore

// PINMemoryCache(name:), costLimit, ageLimit, setObject(_:forKey:withCost:ageLimit:)
let memory = MemoryCache<[UInt8]>(costLimit: .mebibytes(10))
memory.insert([1, 2, 3], for: CacheKey("key"), cost: 3, timeToLive: .seconds(60))
print(memory[CacheKey("key")]?.count ?? 0)

// PINDiskCache(name:rootPath:), setObjectAsync(_:forKey:), object(forKeyAsync:), removeObject(forKeyAsync:)
let disk = try DiskCache(.init(directory: DiskCache.defaultDirectory(namespace: "things")))
try await disk.insert([1, 2, 3], for: "key", metadata: .init(expirationTime: Timestamp.now + .seconds(60)))
print(try await disk.read("key")?.bytes.count ?? 0)
let removedFile = try await disk.remove("key")
print(removedFile == nil)

// The blocking functions; fileURL(forKey:), enumerateObjects, byteCount, trimToSize, removeExpiredObjects
struct Note: Codable { var text: String }
try disk.blocking.insert(Note(text: "any Codable value"), for: "note", with: .json)
print(try disk.blocking.value(for: "note", with: DiskCache.Serializer<Note>.json)?.text ?? "")
for entry in try disk.blocking.entries() { print(entry.path, entry.size) }
try disk.blocking.trim(toSize: .mebibytes(10))

// willAddObjectBlock, didAddObjectBlock, willRemoveObjectBlock, didRemoveObjectBlock
var hooks = DiskCache.Hooks()
hooks.didAdd = { key, count in print("\(key): \(count) bytes") }
disk.setHooks(hooks)
