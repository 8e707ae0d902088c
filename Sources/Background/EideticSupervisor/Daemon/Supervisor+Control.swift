import EideticCore
import EideticLifecycle
import EideticSupervision

// The requests of `eidetic app`.
extension Supervisor {
    /// The number of applications in a packet, and of bytes in the lines of one, well below the limit of a packet.
    private static let applicationsPerPacket = 16
    private static let bytesPerPacket = 32_000

    func answer(_ bytes: [UInt8], on connection: Connection) {
        do throws(WireError) {
            let request = try WireReader.decode(ControlRequest.self, from: bytes)
            // It was sent while this process did not run, and its sender has been told that there is no answer.
            if connection.isAbandoned { return context.log.append("a request came late: given up", for: "eideticd") }
            switch request {
            case .awaitChange: guests[ObjectIdentifier(connection)]?.awaitsChange = true
            case .openURL(let name, let url, let token): openURL(url, in: name, token: token, for: connection)
            case .openURLByScheme(let url, let token): openURL(url, token: token, for: connection)
            case .followURL(let token): followURL(token, for: connection)
            default:
                let contents = contents(for: request)
                if contents == [ControlAnswer(.done)], answerWhenStarted(request, on: connection) { return }
                for content in contents { connection.send(WireWriter.encode(content)) }
            }
        } catch {
            let refusal = ControlAnswer.Content.refused(.invalidRequest, message: "\(error)")
            connection.send(WireWriter.encode(ControlAnswer(refusal)))
        }
    }

    /// Answers a launch when its program has started or cannot start; returns `false` if there is nothing to wait for.
    private func answerWhenStarted(_ request: ControlRequest, on connection: Connection) -> Bool {
        guard let identifier = request.startedApplication, let application = applications[identifier] else {
            return false
        }
        return application.components.launches.expect(in: application.view) {
            [weak connection] answer in
            for content in Self.answers(to: answer) { connection?.send(WireWriter.encode(content)) }
        }
    }

    private static func answers(to launch: LaunchRequests.Answer) -> [ControlAnswer] {
        switch launch {
        case .started: [ControlAnswer(.done)]
        case .note(let text): lines([text])
        case .failed(let reason): refusal(.failed, message: reason)
        }
    }

    /// Answers those who wait for a change, if there was one.
    func reportChanges() {
        let count = context.changeCount &+ context.log.lineCount
        guard count != reportedChangeCount else { return }
        reportedChangeCount = count
        for (key, guest) in guests where guest.awaitsChange {
            guests[key]?.awaitsChange = false
            guest.connection.send(WireWriter.encode(ControlAnswer(.done)))
        }
    }

    private func contents(for request: ControlRequest) -> [ControlAnswer] {
        switch request {
        case .list:
            let statuses = applications.values.map { ApplicationStatus(of: $0) }.sorted {
                $0.identifier < $1.identifier
            }
            return Self.packets(statuses, per: Self.applicationsPerPacket).map { .applications($0) }.marked
        case .log(let identifier, let count):
            return Self.lines(context.log.lines(of: identifier, count: Int(clamping: count)))
        case .explain(let identifier):
            guard let application = knownApplication(identifier) else { return unknown(identifier) }
            return Self.lines(ApplicationExplanation(of: application).lines)
        case .launch(let identifier, let url, let inBackground):
            return launch(identifier, url: url, inBackground: inBackground)
        case .wake(let identifier, let kind): return wake(identifier, for: kind)
        case .push(let identifier, let payload): return push(payload, to: identifier)
        case .simulate(let identifier, let simulation): return simulate(simulation, for: identifier)
        case .awaitChange, .openURL, .openURLByScheme, .followURL: return []
        case .install(let identifier, let program): return install(program, as: identifier)
        case .foreground(let identifier): return pass(.enterForeground, to: identifier)
        case .background(let identifier): return pass(.enterBackground, to: identifier)
        case .quit(let identifier, let force): return quit(identifier, force: force)
        }
    }

    private func install(_ program: ProgramDescription, as identifier: String) -> [ControlAnswer] {
        guard ApplicationIdentifier.isValid(identifier) else {
            return Self.refusal(.invalidRequest, message: "\(identifier) is no identifier of an application")
        }
        guard program.executable.hasPrefix("/") else {
            return Self.refusal(.invalidRequest, message: "\(program.executable) is no absolute path")
        }
        guard applications[identifier] != nil || makeRoomForApplication() else {
            let limit = context.configuration.applicationLimit
            return Self.refusal(.failed, message: "\(limit) applications are known already")
        }
        let application = application(named: identifier)
        application.program.installed = program
        application.tell(.settled)
        application.saveRecord()
        return [ControlAnswer(.done)]
    }

    private func launch(_ identifier: String, url: String?, inBackground: Bool) -> [ControlAnswer] {
        guard let application = knownApplication(identifier) else { return unknown(identifier) }
        if let refusal = Self.refusalToStart(application) { return refusal }
        if let url {
            let url = IncomingURL(url, id: application.components.urls.nextNumber())
            return result(of: .openURL(url), for: application)
        }
        return result(of: inBackground ? .launchInBackground(.user) : .launch(.user), for: application)
    }

    private func wake(_ identifier: String, for kind: WakeReason.Kind) -> [ControlAnswer] {
        guard let application = knownApplication(identifier) else { return unknown(identifier) }
        let reason = WakeReason(kind, id: application.components.wakes.nextNumber())
        return result(of: .wake(reason, allowance: application.lifecycle.rules.wakeLimit), for: application)
    }

    /// Delivers a message of a server; answers with a line if it waits.
    private func push(_ payload: [UInt8], to identifier: String) -> [ControlAnswer] {
        guard let application = knownApplication(identifier) else { return unknown(identifier) }
        do throws(PushPayload.Fault) {
            let message = try PushPayload(payload)
            return answer(for: application) { $0.deliver(message, in: $1, at: $2) }
        } catch {
            return Self.refusal(.invalidRequest, message: "\(error)")
        }
    }

    private func simulate(_ simulation: ControlRequest.Simulation, for identifier: String) -> [ControlAnswer] {
        guard let application = knownApplication(identifier) else { return unknown(identifier) }
        return answer(for: application) { $0.simulate(simulation, in: $1, at: $2) }
    }

    private func answer(
        for application: SupervisedApplication,
        to request: (inout Wakes, ApplicationView, ScheduleTime) -> RequestOutcome
    ) -> [ControlAnswer] {
        let view = application.view
        let now = context.clock.now
        var outcome = RequestOutcome()
        let refusal = refusal(of: application) {
            outcome = request(&application.components.wakes, view, now)
            application.perform(outcome.effects)
        }
        if let note = outcome.note { return Self.lines([note]) }
        if let reason = outcome.refusal ?? refusal { return Self.refusal(.lifecycle, message: reason) }
        return [ControlAnswer(.done)]
    }

    private func quit(_ identifier: String, force: Bool) -> [ControlAnswer] {
        guard let application = applications[identifier] else { return unknown(identifier) }
        if force {
            // The state machine does not know a process that has not connected.
            if application.components.adoption.record != nil {
                application.process?.freezer.kill()
                application.components.adoption.drop()
                application.perform(application.components.urls.dropAnnounced())
                application.handle(.forceQuit)
                return [ControlAnswer(.done)]
            }
            // For the state machine one that was asked to end has ended.
            if application.components.plain.isEnding { application.process?.freezer.kill() }
            return result(of: .forceQuit, for: application)
        }
        return pass(.terminate(grace: context.configuration.quitGracePeriod), to: identifier)
    }

    /// Passes an event to an application that runs.
    private func pass(_ event: LifecycleEvent, to identifier: String) -> [ControlAnswer] {
        guard let application = applications[identifier] else { return unknown(identifier) }
        guard application.process != nil else {
            return Self.refusal(.notRunning, message: "\(identifier) is not running")
        }
        return result(of: event, for: application)
    }

    private func result(of event: LifecycleEvent, for application: SupervisedApplication) -> [ControlAnswer] {
        var isAdmitted = true
        let refusal = refusal(of: application) { isAdmitted = application.request(event) }
        guard isAdmitted else {
            return Self.refusal(
                .failed,
                message: "\(application.identifier) has not connected yet, and too many requests wait"
            )
        }
        if let refusal { return Self.refusal(.lifecycle, message: refusal) }
        if application.process == nil, event.isStart {
            return Self.refusal(.failed, message: application.components.remarks.obstacle ?? "it could not be started")
        }
        return [ControlAnswer(.done)]
    }

    /// Performs a request; returns the reason for which the application refuses it, which becomes its last one.
    private func refusal(of application: SupervisedApplication, by request: () -> Void) -> String? {
        let earlier = application.components.remarks.refusal
        application.components.remarks.refusal = nil
        request()
        defer { application.components.remarks.refusal = application.components.remarks.refusal ?? earlier }
        return application.components.remarks.refusal
    }

    func unknown(_ identifier: String) -> [ControlAnswer] {
        let message =
            context.manifests.undeclaredEntry(of: identifier).map { path in
                "\(path) has no key that begins with \(Manifest.keyPrefix), so eideticd does not launch it: add one, such "
                    + "as \(Manifest.keyPrefix)BackgroundModes=, or give the program: eidetic app launch \(identifier) PROGRAM"
            } ?? "no application has the identifier \(identifier)"
        return Self.refusal(.unknownApplication, message: message)
    }

    static func refusal(_ refusal: ControlAnswer.Refusal, message: String) -> [ControlAnswer] {
        [ControlAnswer(.refused(refusal, message: message))]
    }

    private static func lines(_ lines: [String]) -> [ControlAnswer] {
        var packets: [[String]] = [[]]
        var size: Int = 0
        for line in lines {
            let line = String(decoding: line.utf8.prefix(SupervisionProtocol.pathLimit - 4), as: UTF8.self)
            if size + line.utf8.count > bytesPerPacket {
                packets = packets + [[]]
                size = 0
            }
            packets[packets.count - 1].append(line)
            size += line.utf8.count + 4
        }
        return packets.map { .lines($0) }.marked
    }

    private static func packets<Element>(_ elements: [Element], per count: Int) -> [[Element]] {
        if elements.isEmpty { return [[]] }
        return stride(from: 0, to: elements.count, by: count).map {
            Array(elements[$0..<min($0 + count, elements.count)])
        }
    }
}

extension [ControlAnswer.Content] {
    /// The packets of an answer, of which the last one is marked.
    fileprivate var marked: [ControlAnswer] {
        enumerated().map { ControlAnswer($1, isLast: $0 == count - 1) }
    }
}

extension ControlRequest {
    /// The application that the request may launch.
    fileprivate var startedApplication: String? {
        switch self {
        case .launch(let identifier, _, _), .wake(let identifier, _), .push(let identifier, _): identifier
        default: nil
        }
    }
}

extension LifecycleEvent {
    /// A Boolean value indicating whether the event launches an application that does not run.
    var isStart: Bool {
        switch self {
        case .launch, .launchInBackground, .openURL, .wake: true
        default: false
        }
    }
}
