public import EideticCore
import EideticSandbox

/// The processes of this machine that decode images in the sandbox.
///
/// Their program is `eidetic-decode`, if it is installed beside the application's program, in `../libexec`, or in
/// `libexec` or `bin` of `/usr/local` or `/usr`. Otherwise the application's own program is started again, and decodes
/// before its `main`. A program that another user can replace is not used; neither `PATH` nor the current directory is
/// searched.
///
/// The application's own program cannot be used if it is setuid, or if Eidetic is part of a library that it loads at
/// run time, such as an interpreter's extension module.
///
/// Processes are started with the first image. At most one idle process per processor is kept, and ends after half a
/// minute without an image.
public enum DecodeSandbox {
    /// The path of the program; `nil`, the default, searches the directories above.
    ///
    /// Setting it ends the processes that wait for an image.
    public static var programPath: String? {
        get { HelperLocation.configuredPath }
        set {
            HelperLocation.configuredPath = newValue
            HelperPool.shared.restart()
        }
    }

    /// The restrictions of the sandbox, as far as the system allows them.
    public struct Status: Sendable, Hashable, CustomStringConvertible {
        /// The restrictions that are applied, such as `seccomp`.
        public let restrictions: [String]
        /// The restrictions that the system refuses.
        public let missingRestrictions: [String]

        init(_ applied: HelperRestrictions) {
            let names = HelperRestrictions.names
            restrictions = names.filter { applied.contains($0.restriction) }.map(\.name)
            missingRestrictions = names.filter { !applied.contains($0.restriction) }.map(\.name)
        }

        /// The restrictions as text.
        public var description: String {
            let missing = missingRestrictions.isEmpty ? "" : "; without \(missingRestrictions.joined(separator: ", "))"
            return restrictions.joined(separator: ", ") + missing
        }
    }

    /// Returns the restrictions that the system allows; starts a process if none was started yet.
    ///
    /// - Throws: `sandboxUnavailable` if there is no program for it.
    nonisolated(nonsending) public static func status() async throws(EideticError) -> Status {
        try await threads.run { _ throws(EideticError) in
            Status(try HelperPool.shared.description().restrictions)
        }
    }

    private static let threads = WorkPool(name: "eidetic sandbox", maximumThreadCount: 1)

    /// Records that an image is decoded without the sandbox; writes to the log once.
    static func reportFallback(_ error: EideticError) {
        // Whoever turns on the log later sees the line then.
        guard Log.includes(.warning, category: .codecs) else { return }
        guard !hasReported.withLock({ exchange(&$0, with: true) }) else { return }
        Log.write(.warning, category: .codecs, message: "images are decoded in this process: \(error.message)")
    }

    private static let hasReported = Guarded(false)

    /// Writes the restrictions to the log, once for each process that lacks some.
    static func reportStatus(of pool: HelperPool) {
        guard let description = try? pool.description() else { return }
        let isNew = reported.withLock { $0.insert(description.restrictions.rawValue).inserted }
        guard isNew else { return }
        let status = Status(description.restrictions)
        let level: Log.Level = status.missingRestrictions.isEmpty ? .info : .warning
        Log.write(level, category: .codecs, message: "images are decoded in a sandbox: \(status)")
    }

    private static let reported = Guarded<Set<UInt16>>([])
}
