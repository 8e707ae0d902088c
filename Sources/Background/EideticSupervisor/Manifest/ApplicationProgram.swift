import EideticCore
package import EideticLifecycle
package import EideticSupervision
import Glibc

/// The program of an application, and the modes that it may use: those of its desktop entry, or else its own.
package struct ApplicationProgram {
    package let identifier: String
    /// The program that was installed with the identifier; `nil` for that of the desktop entry.
    package var installed: ProgramDescription?
    /// The desktop entry, as it was when the process started.
    package private(set) var manifest = ManifestDirectories.Lookup.none

    package init(of identifier: String) { self.identifier = identifier }

    /// Replaces the desktop entry; returns `false` if it is the same.
    package mutating func refresh(_ found: ManifestDirectories.Lookup) -> Bool {
        defer { manifest = found }
        return found != manifest
    }

    // MARK: The program

    /// A Boolean value indicating whether a program is known, found or not.
    package var isKnown: Bool { executable != nil }

    /// The program to start; `nil` if none is known, or it is not found.
    package var description: ProgramDescription? { installed ?? manifest.manifest?.program }

    private var executable: String? { installed?.executable ?? manifest.manifest?.programName }

    package var found: ProgramDescription {
        get throws(SystemError) {
            guard let description else { throw SystemError(.open, errorNumber: ENOENT, path: missing) }
            return description
        }
    }

    /// The words for a program that is not found.
    package var missing: String { executable ?? "no program is known" }

    /// The names by which the transfer process may mean the application: its identifier, and the name of its program.
    package var transferNames: [String] {
        let file = executable?.split(separator: "/").last.map { TransferLocations.applicationName(of: $0) }
        return [identifier] + (file.map { [$0] } ?? [])
    }

    /// A Boolean value indicating whether the identifier may be a name on the bus.
    ///
    /// - SeeAlso: D-Bus Specification, Bus names
    package var hasBusName: Bool {
        let elements = identifier.split(separator: ".", omittingEmptySubsequences: false)
        return elements.count > 1 && elements.allSatisfy { $0.first.map { !$0.isNumber } ?? false }
    }

    // MARK: Declarations

    /// Limits an application to what it declares.
    ///
    /// - Parameters:
    ///   - rules: The rules of the application.
    ///   - own: The declarations of the process; `nil` if none runs.
    ///   - isWatched: A Boolean value indicating whether a service manager ends a process that does not report: a
    ///     frozen one cannot.
    ///   - limits: The rules of the supervisor.
    package func restrict(
        _ rules: inout LifecycleRules,
        to own: Hello.Declarations?,
        isWatched: Bool,
        within limits: LifecycleRules
    ) {
        rules.restrict(to: manifest.declarations(of: own), within: limits)
        switch rules.suspensionPolicy {
        case .freeze where isWatched: rules.suspensionPolicy = .keepRunning
        case .keepRunning where !isWatched: rules.suspensionPolicy = .freeze
        default: break
        }
    }

    package func explanation(of refusal: LifecycleEffect.Refusal, for event: LifecycleEvent?) -> String {
        guard refusal == .undeclaredMode, let mode = event?.mode else { return refusal.explanation }
        return manifest.explanation(ofUndeclared: mode)
    }
}
