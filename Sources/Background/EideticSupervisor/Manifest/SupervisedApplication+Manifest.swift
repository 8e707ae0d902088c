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

    /// Limits the application to what it declares, and its declarations to the limits of the supervisor.
    func applyDeclarations() {
        let limits = context.configuration.rules
        lifecycle.rules.backgroundBudget = limits.backgroundBudget
        guard let declared else { return }
        lifecycle.rules.suspensionPolicy = declared.exitsOnSuspend ? .terminate : limits.suspensionPolicy
        lifecycle.rules.declaredWakeKinds = limits.declaredWakeKinds.intersection(declared.wakeKinds)
        lifecycle.rules.declaredAssertions = limits.declaredAssertions.intersection(declared.assertions)
        guard let requested = declared.backgroundBudget else { return }
        let most = limits.backgroundBudget ?? SupervisorConfiguration.budgetRange.upperBound
        let least = min(SupervisorConfiguration.budgetRange.lowerBound, most)
        lifecycle.rules.backgroundBudget = min(max(requested, least), most)
    }

    /// The declarations that hold; `nil` if there are none.
    private var declared: Hello.Declarations? {
        var declarations = process?.declarations ?? Hello.Declarations()
        switch manifest {
        case .none: return process?.declarations
        case .found(let manifest):
            (declarations.wakeKinds, declarations.assertions) = (manifest.modes.wakeKinds, manifest.modes.assertions)
            declarations.exitsOnSuspend = manifest.exitsOnSuspend ?? declarations.exitsOnSuspend
            declarations.backgroundBudget = manifest.backgroundBudget ?? declarations.backgroundBudget
        case .invalid:
            let none: Set<BackgroundMode> = []
            (declarations.wakeKinds, declarations.assertions) = (none.wakeKinds, none.assertions)
        }
        return declarations
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
        return explanation(ofUndeclared: mode)
    }

    /// Explains why a mode may not be used.
    func explanation(ofUndeclared mode: BackgroundMode) -> String {
        switch manifest {
        case .none: return "the application does not declare the background mode \(mode.rawValue)"
        case .found(let manifest):
            return "X-Eidetic-BackgroundModes in \(manifest.path) does not name \(mode.rawValue)"
        case .invalid(let path, _): return "\(path), which would declare \(mode.rawValue), cannot be used"
        }
    }

    /// The lines about the declarations for `eidetic app why`.
    var declarationLines: [String] {
        switch manifest {
        case .none: return []
        case .invalid(let path, let error): return ["declares nothing, as \(path) cannot be used: \(error)"]
        case .found(let manifest):
            let modes = manifest.modes.map(\.rawValue).sorted().joined(separator: ", ")
            var lines = ["declared in \(manifest.path): \(modes.isEmpty ? "no background mode" : modes)"]
            if !manifest.unknownModes.isEmpty {
                lines.append("unknown background modes: \(manifest.unknownModes.joined(separator: ", "))")
            }
            return lines + surplusLines(to: manifest)
        }
    }

    /// The modes that the program asks for, and that its desktop entry does not declare.
    private func surplusLines(to manifest: Manifest) -> [String] {
        guard let asked = process?.declarations, asked.wakeKinds != Set(WakeReason.Kind.allCases) else { return [] }
        let surplus = BackgroundMode.allCases.filter { mode in
            guard !manifest.modes.contains(mode) else { return false }
            return mode.wakeKind.map(asked.wakeKinds.contains) ?? mode.assertion.map(asked.assertions.contains) ?? false
        }
        if surplus.isEmpty { return [] }
        return ["asked for by the program, and not declared: \(surplus.map(\.rawValue).joined(separator: ", "))"]
    }
}

extension LifecycleEvent {
    /// The background mode that the event requires; `nil` if it requires none.
    fileprivate var mode: BackgroundMode? {
        switch self {
        case .wake(let reason, _): BackgroundMode.allCases.first { $0.wakeKind == reason.kind }
        case .assertionChanged(let assertion, _, _): BackgroundMode.allCases.first { $0.assertion == assertion }
        default: nil
        }
    }
}
