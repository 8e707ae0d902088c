import EideticCore

/// The encoded bytes of a picture, on their way from where they came from to the disk.
final class Original: Sendable {
    let bytes: [UInt8]
    let source: ImageSource
    let steps: [LoadRecord.Step]
    /// How long the server's answer is fresh; `nil` where its server is not asked.
    let freshFor: Duration?
    /// Whether the server is to be asked while the picture is shown.
    let needsRevalidation: Bool
    private let store: (@Sendable () async throws(EideticError) -> Void)?
    private let storing = Guarded<Task<EideticError?, Never>?>(nil)

    /// `store` writes the bytes to disk; `nil` where they are there already or do not belong there.
    init(
        bytes: [UInt8],
        source: ImageSource,
        steps: [LoadRecord.Step],
        freshFor: Duration? = nil,
        needsRevalidation: Bool = false,
        store: (@Sendable () async throws(EideticError) -> Void)? = nil
    ) {
        self.bytes = bytes
        self.source = source
        self.steps = steps
        self.freshFor = freshFor
        self.needsRevalidation = needsRevalidation
        self.store = store
    }

    /// Starts to store the bytes, once, however many ask; called when they have proved to be a picture.
    func storeOnce() {
        guard let store else { return }
        storing.withLock { task in
            guard task == nil else { return }
            task = Task.detached { [self] in
                // The task keeps the bytes, so that who asks meanwhile finds them here and not on the network again.
                defer { withExtendedLifetime(self) {} }
                do throws(EideticError) {
                    try await store()
                    return nil
                } catch {
                    Log.write(.warning, .store, "not stored: \(error)")
                    return error
                }
            }
        }
    }

    /// Waits until the bytes are stored; gives the error where they could not be.
    func storeError() async -> EideticError? { await storing.withLock { $0 }?.value }
}
