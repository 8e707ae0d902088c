public import EideticCore
import FoundationEssentials

extension DiskCache {
    /// A pair of functions that convert values of a type to bytes and back.
    public struct Serializer<Value>: Sendable {
        private let encodeValue: @Sendable (Value) throws -> [UInt8]
        private let decodeBytes: @Sendable ([UInt8]) throws -> Value

        /// Creates a serializer.
        ///
        /// Errors of the functions reach the caller as `encodingFailed` from an insertion and as `corrupt` from a read.
        public init(
            encode: @escaping @Sendable (Value) throws -> [UInt8],
            decode: @escaping @Sendable ([UInt8]) throws -> Value
        ) {
            encodeValue = encode
            decodeBytes = decode
        }

        func encode(_ value: Value, for key: String) throws(EideticError) -> [UInt8] {
            do {
                return try encodeValue(value)
            } catch {
                throw EideticError(.encodingFailed, message: "\(key): \(Value.self) cannot be encoded: \(error)")
            }
        }

        func decode(_ entry: Entry) throws(EideticError) -> Value {
            do {
                return try decodeBytes(entry.bytes)
            } catch {
                throw EideticError(
                    .corrupt,
                    message: "\(entry.key): the stored bytes are not a valid \(Value.self): \(error)"
                )
            }
        }
    }

    /// Encodes and stores a value.
    ///
    /// Throws the errors of ``insert(_:for:metadata:)``, and `encodingFailed`.
    nonisolated(nonsending) public func insert<Value: Sendable>(
        _ value: Value,
        for key: String,
        with serializer: Serializer<Value>,
        metadata: Metadata = Metadata()
    ) async throws(EideticError) {
        try await work.perform { () throws(EideticError) in
            try self.writer.store(try serializer.encode(value, for: key), for: key, metadata: metadata)
        }
    }

    /// Reads and decodes a value.
    ///
    /// Throws the errors of ``read(_:allowingExpired:)``, and `corrupt` if the bytes cannot be decoded.
    nonisolated(nonsending) public func value<Value: Sendable>(
        for key: String,
        with serializer: Serializer<Value>
    ) async throws(EideticError) -> Value? {
        try await work.pool.run { _ throws(EideticError) in try self.blocking.value(for: key, with: serializer) }
    }
}

extension DiskCache.Serializer where Value: Codable & SendableMetatype {
    /// A serializer for JSON.
    public static var json: Self {
        Self(
            encode: { Array(try JSONEncoder().encode($0)) },
            decode: { try JSONDecoder().decode(Value.self, from: Data($0)) }
        )
    }
}
