public import EideticCore
import FoundationEssentials

extension DiskCache {
    /// How values of a type become bytes and come back.
    public struct Serializer<Value>: Sendable {
        let encode: @Sendable (Value) throws -> [UInt8]
        let decode: @Sendable ([UInt8]) throws -> Value

        /// Creates a serializer.
        ///
        /// What the functions throw reaches the caller: as `encodingFailed` from a write, as `corrupt` from a read.
        public init(
            encode: @escaping @Sendable (Value) throws -> [UInt8],
            decode: @escaping @Sendable ([UInt8]) throws -> Value
        ) {
            self.encode = encode
            self.decode = decode
        }
    }

    /// Stores a value; blocks on file work.
    ///
    /// Throws what `write` throws, and `encodingFailed`.
    public func write<Value>(
        _ value: Value,
        for key: String,
        with serializer: Serializer<Value>,
        metadata: Metadata = Metadata()
    ) throws(EideticError) {
        try write(try Self.encode(value, key: key, serializer: serializer), for: key, metadata: metadata)
    }

    /// Reads a value; blocks on file work.
    ///
    /// Throws what `read` throws, and `corrupt`.
    public func value<Value>(for key: String, with serializer: Serializer<Value>) throws(EideticError) -> Value? {
        guard let entry = try read(key) else { return nil }
        do {
            return try serializer.decode(entry.bytes)
        } catch {
            throw EideticError(.corrupt, message: "\(key): stored bytes are no \(Value.self): \(error)")
        }
    }

    private static func encode<Value>(
        _ value: Value,
        key: String,
        serializer: Serializer<Value>
    ) throws(EideticError) -> [UInt8] {
        do {
            return try serializer.encode(value)
        } catch {
            throw EideticError(.encodingFailed, message: "\(key): \(Value.self) is not stored: \(error)")
        }
    }
}

extension DiskCache.Serializer where Value: Codable & SendableMetatype {
    /// Values as JSON.
    public static var json: Self {
        Self(
            encode: { Array(try JSONEncoder().encode($0)) },
            decode: { try JSONDecoder().decode(Value.self, from: Data($0)) }
        )
    }
}
