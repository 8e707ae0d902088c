import EideticCore
import EideticLifecycle

/// The assertion of an application that it plays sound, and what the sound server knows of it.
struct SoundClaim {
    /// A Boolean value indicating whether the application asserts that it plays.
    var isMade = false
    /// A Boolean value indicating whether it is not counted, as no stream of the application plays.
    var isDenied = false
    /// The time since which no stream plays, although the application says so; `nil` if one does, or nobody knows.
    var silentSince: Duration?
}

// Applications that play sound in the background, as long as the sound server agrees.
extension SupervisedApplication {
    /// Receives the assertion of the application.
    func assert(_ assertion: ContinuousAssertion, isHeld: Bool, by process: RunningProcess) {
        if assertion == .audio { process.sound = SoundClaim(isMade: isHeld) }
        // It is held by the work that the application has named, for as long as there is some.
        if assertion == .continued, isHeld || !process.continuedWork.isEmpty { return }
        handle(.assertionChanged(assertion, isHeld: isHeld, process: process.identity))
    }

    /// A Boolean value indicating whether the sound server is asked about the application.
    var needsSoundServer: Bool {
        guard let process, process.sound.isMade, process.suspensionTime == nil else { return false }
        return lifecycle.isInBackground && lifecycle.rules.declaredAssertions.contains(.audio)
    }

    /// Compares the assertion with the streams at the sound server.
    func checkSound(at now: Duration) {
        // One that is suspended is not continued for its word.
        guard let process, process.sound.isMade, process.suspensionTime == nil else { return }
        guard needsSoundServer, let playing = context.sound.playingProcesses else {
            process.sound.silentSince = nil
            return setDenied(false, of: process)
        }
        if process.freezer.processes.contains(where: playing.contains) {
            process.sound.silentSince = nil
            return setDenied(false, of: process)
        }
        let since = process.sound.silentSince ?? now
        process.sound.silentSince = since
        if now >= since + context.configuration.silenceLimit { setDenied(true, of: process) }
    }

    private func setDenied(_ isDenied: Bool, of process: RunningProcess) {
        guard process.sound.isDenied != isDenied else { return }
        process.sound.isDenied = isDenied
        if isDenied { log("says that it plays sound, but no stream of it plays: it is suspended like others") }
        handle(.assertionChanged(.audio, isHeld: !isDenied, process: process.identity))
    }

    /// The time of the next ``checkSound(at:)``; `nil` if only the sound server can change anything.
    var soundCheck: Duration? {
        guard let process, !process.sound.isDenied, let since = process.sound.silentSince else { return nil }
        return since + context.configuration.silenceLimit
    }

    /// The line about the assertion for `eidetic app why`.
    var soundLines: [String] {
        guard let process, process.sound.isMade, lifecycle.isInBackground else { return [] }
        let place = context.sound.path ?? "no place in the environment"
        guard context.sound.playingProcesses != nil || process.suspensionTime != nil else {
            return ["audio: cooperative, as no sound server answers (\(place))"]
        }
        let silence = "it says that it plays, but no stream of it plays"
        let isSilent = process.sound.isDenied || process.sound.silentSince != nil
        return ["audio: checked at the sound server \(place): \(isSilent ? silence : "a stream of it plays")"]
    }
}

// The connection to the sound server, which exists while somebody needs it.
extension Supervisor {
    /// Connects to the sound server, or ends the connection.
    func updateSound() {
        let isNeeded = applications.values.contains(where: \.needsSoundServer)
        context.sound.update(isNeeded: isNeeded, at: Clock.now)
    }

    /// Passes a change at the sound server to the applications.
    func connectSound() {
        context.sound.didChange = { [unowned self] in
            for application in Array(self.applications.values) { application.checkSound(at: Clock.now) }
        }
    }

    /// The time of the next attempt to connect to the sound server.
    var soundDeadline: Duration? { context.sound.retryTime }
}
