#if Redis
package import EideticCore
package import EideticStore

/// The contents of a tier, for its administration.
extension RedisTier {
    package struct Item: Sendable {
        package let name: String
        /// The number of bytes that were read.
        package let byteCount: Int
        /// The key of the entry; `nil` if it is damaged.
        package let key: String?
        /// The metadata of the entry; `nil` if it is damaged.
        package let metadata: DiskCache.Metadata?
        /// The reason that the value is no valid entry; otherwise, `nil`.
        package let damage: String?

        /// The URL of the image; empty for a damaged entry.
        package var url: String { String(key?.prefix { $0 != "\n" } ?? "") }

        init(name: String, value: [UInt8]) {
            self.name = name
            byteCount = value.count
            do throws(EideticError) {
                let entry = try SharedEntry.decode(value, expecting: nil)
                key = entry.key
                metadata = entry.metadata
                damage = nil
            } catch {
                key = nil
                metadata = nil
                damage = error.message
            }
        }
    }

    /// Reads all values of the tier, one after the other, and verifies them; throws the error of the server.
    package func contents() async throws(EideticError) -> [Item] {
        var items: [Item] = []
        for name in try await self.names(matching: names.valuePattern) {
            if let value = try await value(named: name) { items.append(Item(name: name, value: value)) }
        }
        return items
    }

    /// Returns the bytes of the image of an item; `nil` if it is no longer there, or damaged.
    package func bytes(of item: Item) async throws(EideticError) -> [UInt8]? {
        guard let value = try await value(named: item.name) else { return nil }
        return try SharedEntry.decode(value, expecting: item.key).bytes
    }

    private func value(named name: String) async throws(EideticError) -> [UInt8]? {
        let read = RedisCommand("GETRANGE", name, "0", "\(configuration.valueLimit.bytes)")
        return value(in: try await router.replies(to: [read], for: name)[0])
    }

    package func removeItem(_ item: Item) async throws(EideticError) {
        _ = try await router.replies(to: [RedisCommand("UNLINK", item.name)], for: item.name)
    }

    /// Removes all values and leases, and returns the number of values.
    package func removeAll() async throws(EideticError) -> Int {
        let found = try await self.names(matching: names.pattern)
        for name in found { _ = try await router.replies(to: [RedisCommand("UNLINK", name)], for: name) }
        return found.count { $0.hasSuffix("}") }
    }

    /// Returns the names of all keys that match a pattern, on all nodes of a cluster.
    private func names(matching pattern: String) async throws(EideticError) -> Set<String> {
        var names: Set<String> = []
        for server in try await router.allServers() {
            var cursor = "0"
            repeat {
                let scan = RedisCommand("SCAN", cursor, "MATCH", pattern, "COUNT", "1000")
                let reply = try await router.engine.replies(to: [scan], from: server)[0]
                guard case .array(let parts) = reply, parts.count == 2, let next = parts[0].text,
                    case .array(let found) = parts[1]
                else { throw EideticError(serverError: reply.errorText ?? "an unexpected reply to SCAN", of: server) }
                names.formUnion(found.compactMap(\.text))
                cursor = next
            } while cursor != "0"
        }
        return names
    }
}
#endif
