import EideticLifecycle

/// The assertion of an application that it plays sound in the background, which holds as long as the sound server
/// agrees.
package struct SoundWatch: ApplicationComponent {
    private let silenceLimit: Duration
    /// A Boolean value indicating whether the application asserts that it plays.
    private(set) var isClaimed = false
    /// A Boolean value indicating whether the assertion is not counted, as no stream of the application plays.
    private var isDenied = false
    /// The time since which no stream plays, although the application says so; `nil` if one does, or nobody knows.
    private var silentSince: Duration?

    /// Creates the component, with the time without a stream after which the application is not believed.
    package init(silenceLimit: Duration) { self.silenceLimit = silenceLimit }

    package var deadline: Duration? { isDenied ? nil : silentSince.map { $0 + silenceLimit } }

    /// Records the assertion of the application.
    package mutating func claim(_ isHeld: Bool) {
        isClaimed = isHeld
        isDenied = false
        silentSince = nil
    }

    /// Returns whether the sound server is asked about the application.
    package func needsServer(in view: ApplicationView) -> Bool {
        guard isClaimed, let process = view.process, !process.isSuspended else { return false }
        return view.lifecycle.isInBackground && view.lifecycle.rules.declaredAssertions.contains(.audio)
    }

    package mutating func handle(_ change: ApplicationChange, in view: ApplicationView) -> [ApplicationEffect] {
        switch change {
        case .settled, .deadline: return compare(in: view)
        case .processChanged:
            claim(false)
            return []
        }
    }

    /// Compares the assertion with the streams at the sound server.
    private mutating func compare(in view: ApplicationView) -> [ApplicationEffect] {
        guard isClaimed, let process = view.process, !process.isSuspended else {
            // One that is suspended is not continued for its word.
            silentSince = nil
            return []
        }
        guard needsServer(in: view), let playing = view.playingProcesses(),
            !process.identifiers().contains(where: playing.contains)
        else {
            silentSince = nil
            return setDenied(false, of: process)
        }
        let since = silentSince ?? view.now
        silentSince = since
        return view.now >= since + silenceLimit ? setDenied(true, of: process) : []
    }

    private mutating func setDenied(_ isDenied: Bool, of process: ApplicationView.Process) -> [ApplicationEffect] {
        guard self.isDenied != isDenied else { return [] }
        self.isDenied = isDenied
        let event = LifecycleEvent.assertionChanged(.audio, isHeld: !isDenied, process: process.identity)
        let text = "says that it plays sound, but no stream of it plays: it is suspended like others"
        return (isDenied ? [.log(text)] : []) + [.handle(event)]
    }

    /// Returns the line about the assertion for `eidetic app why`.
    package func lines(in view: ApplicationView, place: String) -> [String] {
        guard let process = view.process, isClaimed, view.lifecycle.isInBackground else { return [] }
        guard process.isSuspended || view.playingProcesses() != nil else {
            return ["audio: cooperative, as no sound server answers (\(place))"]
        }
        let silence = "it says that it plays, but no stream of it plays"
        let isSilent = isDenied || silentSince != nil
        return ["audio: checked at the sound server \(place): \(isSilent ? silence : "a stream of it plays")"]
    }
}

// The connection to the sound server, which exists while somebody needs it.
extension Supervisor {
    /// Connects to the sound server, or ends the connection.
    func updateSound() {
        let isNeeded = applications.values.contains { application in
            application.components.sound.isClaimed && application.components.sound.needsServer(in: application.view)
        }
        context.sound.update(isNeeded: isNeeded, at: Clock.now)
    }

    /// Passes a change at the sound server to the applications.
    func connectSound() {
        context.sound.didChange = { [unowned self] in
            for application in Array(self.applications.values) { application.tell(.settled) }
        }
    }
}
