import EideticSupervision

// The applications that a desktop entry declares.
extension Supervisor {
    /// Returns an application that is known, or that has a desktop entry; `nil` if there is none, or no room for it.
    func knownApplication(_ identifier: String) -> SupervisedApplication? {
        if let known = applications[identifier] {
            known.refreshManifest()
            return known
        }
        guard context.manifests.manifest(of: identifier) != .none, makeRoomForApplication() else { return nil }
        return application(named: identifier)
    }

    /// Returns the refusal of a request to an application that cannot be launched; `nil` if it can, or runs.
    static func refusalToStart(_ application: SupervisedApplication) -> [ControlAnswer]? {
        guard application.process == nil else { return nil }
        if case .invalid(let path, let error) = application.program.manifest, application.program.installed == nil {
            return refusal(.failed, message: "\(path) cannot be used: \(error)")
        }
        guard !application.program.isKnown else { return nil }
        return refusal(.unknownApplication, message: "no program is known for \(application.identifier)")
    }
}
