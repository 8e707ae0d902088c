import EideticCore
import EideticLifecycle
import EideticSupervision

/// A request that was refused, and the reason in words.
struct RefusedUse {
    let refusal: LifecycleEffect.Refusal
    let explanation: String
}

// The declarations of the application: those of its desktop entry, or else its own.
extension SupervisedApplication {
    /// Reads the desktop entry again, unless a process runs: that of its start holds for it.
    func refreshManifest() {
        guard process == nil else { return }
        let found = context.manifests.manifest(of: identifier)
        guard found != manifest else { return }
        manifest = found
        if case .invalid(let path, let error) = found { log("\(path) cannot be used: \(error)") }
        applyDeclarations()
    }

    /// Limits the application to what it declares.
    func applyDeclarations() {
        lifecycle.rules.restrict(
            to: manifest.declarations(of: process?.declarations),
            within: context.configuration.rules
        )
        // A frozen process cannot report to its service manager, which would end it.
        switch lifecycle.rules.suspensionPolicy {
        case .freeze where process?.watchdog != nil: lifecycle.rules.suspensionPolicy = .keepRunning
        case .keepRunning where process?.watchdog == nil: lifecycle.rules.suspensionPolicy = .freeze
        default: break
        }
    }

    // MARK: The program

    /// A Boolean value indicating whether a program is known, found or not.
    var hasProgram: Bool { program != nil || manifest.manifest?.programName != nil }

    /// The program to start; `nil` if none is known, or it is not found.
    var launchProgram: ProgramDescription? { program ?? manifest.manifest?.program }

    /// The path or the name of the program.
    var knownExecutable: String? { program?.executable ?? manifest.manifest?.programName }

    /// The words for a program that is not found.
    var missingProgram: String { knownExecutable ?? "no program is known" }

    // MARK: Explanations

    /// Explains a refusal of the event under way.
    func explanation(of refusal: LifecycleEffect.Refusal) -> String {
        guard refusal == .undeclaredMode, let mode = currentEvent?.mode else { return refusal.explanation }
        return manifest.explanation(ofUndeclared: mode)
    }
}
