public import EideticCore
public import EideticStore

/// The asynchronous functions of a cache with completion handlers, for code that cannot await them.
///
/// Each does what the awaited function of its name does. It returns at once, and has removed from memory what it
/// removes there. The handler is called exactly once, on another thread than the caller's.
extension ImageCache {
    /// A function that is called with the outcome of an operation, on another thread than the caller's.
    public typealias Completion<Value> = @Sendable (Result<Value, EideticError>) -> Void

    /// Finds out whether one of the tiers has an image; see ``contains(_:in:)``.
    public func contains(_ key: Key, in tiers: Tiers = .all, completion: @escaping Completion<Bool>) {
        run(completion) { [self] () async throws(EideticError) in try await contains(key, in: tiers) }
    }

    /// Finds out which tiers have an image; see ``tiers(containing:among:)``.
    public func tiers(containing key: Key, among tiers: Tiers = .all, completion: @escaping Completion<Tiers>) {
        run(completion) { [self] () async throws(EideticError) in try await self.tiers(containing: key, among: tiers) }
    }

    /// Computes the path of the file of an image; see ``path(for:)``.
    public func path(for key: Key, completion: @escaping Completion<String?>) {
        run(completion) { [self] () async throws(EideticError) in
            try await stage.run { _ throws(EideticError) in self.path(for: key) }
        }
    }

    /// Reads the encoded bytes of an image; see ``bytes(for:)``.
    public func bytes(for key: Key, completion: @escaping Completion<[UInt8]?>) {
        run(completion) { [self] () async throws(EideticError) in try await bytes(for: key) }
    }

    /// Reads the metadata of an image; see ``metadata(for:)``.
    public func metadata(for key: Key, completion: @escaping Completion<DiskCache.Metadata?>) {
        run(completion) { [self] () async throws(EideticError) in try await metadata(for: key) }
    }

    /// Inserts an image; see ``insert(_:bytes:for:in:metadata:)``.
    public func insert(
        _ image: Image,
        bytes: [UInt8]? = nil,
        for key: Key,
        in tiers: Tiers = .all,
        metadata: DiskCache.Metadata = .init(),
        completion: @escaping Completion<Void>
    ) {
        run(completion) { [self] () async throws(EideticError) in
            try await insert(image, bytes: bytes, for: key, in: tiers, metadata: metadata)
        }
    }

    /// Inserts the encoded bytes of an image; see ``insert(bytes:for:metadata:)``.
    public func insert(
        bytes: [UInt8],
        for key: Key,
        metadata: DiskCache.Metadata = .init(),
        completion: @escaping Completion<Void>
    ) {
        run(completion) { [self] () async throws(EideticError) in
            try await insert(bytes: bytes, for: key, metadata: metadata)
        }
    }

    /// Removes an image; see ``remove(_:from:)``.
    public func remove(_ key: Key, from tiers: Tiers = .all, completion: @escaping Completion<Void>) {
        run(completion) { [self] () async throws(EideticError) in try await remove(key, from: tiers) }
    }

    /// Removes all images; see ``removeAll(from:)``.
    public func removeAll(from tiers: Tiers = .all, completion: @escaping Completion<Void>) {
        run(completion) { [self] () async throws(EideticError) in try await removeAll(from: tiers) }
    }

    /// Starts an operation on the calling thread, which leaves it at its first suspension.
    private func run<Value: Sendable>(
        _ completion: @escaping Completion<Value>,
        operation: @escaping @Sendable () async throws(EideticError) -> Value
    ) {
        Task.immediateDetached {
            let result: Result<Value, EideticError>
            do throws(EideticError) { result = .success(try await operation()) } catch { result = .failure(error) }
            // Not before the caller's function has returned, even if nothing had to be awaited.
            Task.detached { completion(result) }
        }
    }
}
