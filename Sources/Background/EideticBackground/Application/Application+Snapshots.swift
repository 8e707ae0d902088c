import EideticCore

/// The means to keep an image of the application's window for a switcher.
struct Snapshots: Sendable {
    /// Draws the window; returns the bytes of an image file, or `nil` if there is nothing to draw.
    var draw: (@MainActor @Sendable () -> [UInt8]?)?
    /// The file for the image; `nil` without a supervisor that keeps one.
    var path: String?
}

extension Application {
    /// Sets the function that draws the window after `applicationDidEnterBackground`, and after a completed wake.
    package func setSnapshotDrawing(_ draw: @escaping @MainActor @Sendable () -> [UInt8]?) {
        snapshots.withLock { $0.draw = draw }
    }

    /// A Boolean value indicating whether a snapshot is drawn in the background.
    var keepsSnapshot: Bool { snapshots.withLock { $0.draw != nil && $0.path != nil } }

    /// Draws the window, and replaces the file of the snapshot.
    @MainActor
    func saveSnapshot() {
        let snapshots = snapshots.withLock { $0 }
        guard let path = snapshots.path, let bytes = snapshots.draw?() else { return }
        let error = bytes.withUnsafeBytes { buffer -> SystemError? in
            do throws(SystemError) {
                try FileSystem().replaceContents(of: path, with: buffer, mode: 0o600)
                return nil
            } catch {
                return error
            }
        }
        if let error { Log.write(.warning, category: .background, message: "no snapshot is kept: \(error)") }
    }
}
