package import EideticLifecycle
package import EideticSupervision

// What the desktop entry of an application declares.
extension ManifestDirectories.Lookup {
    /// Returns the declarations that hold: those of the entry, where it says something, or else those of the process.
    ///
    /// - Parameter own: The declarations of the process; `nil` if none runs.
    /// - Returns: The declarations; `nil` if there are none.
    package func declarations(of own: Hello.Declarations?) -> Hello.Declarations? {
        var declarations = own ?? Hello.Declarations()
        switch self {
        case .none: return own
        case .found(let manifest):
            declarations.wakeKinds = manifest.modes.wakeKinds
            declarations.assertions = manifest.modes.assertions
            declarations.exitsOnSuspend = manifest.exitsOnSuspend ?? declarations.exitsOnSuspend
            declarations.backgroundBudget = manifest.backgroundBudget ?? declarations.backgroundBudget
        case .invalid:
            let none: Set<DeclaredMode> = []
            declarations.wakeKinds = none.wakeKinds
            declarations.assertions = none.assertions
        }
        return declarations
    }

    /// Explains why a mode may not be used.
    func explanation(ofUndeclared mode: DeclaredMode) -> String {
        switch self {
        case .none: "the application does not declare the background mode \(mode.rawValue)"
        case .found(let manifest): "X-Eidetic-BackgroundModes in \(manifest.path) does not name \(mode.rawValue)"
        case .invalid(let path, _): "\(path), which would declare \(mode.rawValue), cannot be used"
        }
    }
}

extension LifecycleRules {
    /// Limits an application to what it declares, and its declarations to the limits of the supervisor.
    package mutating func restrict(to declared: Hello.Declarations?, within limits: LifecycleRules) {
        backgroundBudget = limits.backgroundBudget
        guard let declared else { return }
        suspensionPolicy = declared.exitsOnSuspend ? .terminate : limits.suspensionPolicy
        declaredWakeKinds = limits.declaredWakeKinds.intersection(declared.wakeKinds)
        declaredAssertions = limits.declaredAssertions.intersection(declared.assertions)
        guard let requested = declared.backgroundBudget else { return }
        let most = limits.backgroundBudget ?? SupervisorConfiguration.budgetRange.upperBound
        let least = min(SupervisorConfiguration.budgetRange.lowerBound, most)
        backgroundBudget = min(max(requested, least), most)
    }
}

extension LifecycleEvent {
    /// The background mode that the event requires; `nil` if it requires none.
    var mode: DeclaredMode? {
        switch self {
        case .wake(let reason, _): DeclaredMode.allCases.first { $0.wakeKind == reason.kind }
        case .assertionChanged(let assertion, _, _): DeclaredMode.allCases.first { $0.assertion == assertion }
        default: nil
        }
    }
}
