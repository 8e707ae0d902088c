import EideticCore
import EideticLifecycle
import EideticSupervision

// Messages of the supervisor, which become effects.
extension SupervisedHost {
    func receive() {
        while let connection {
            switch connection.receive() {
            case .message(let message, let packet): handle(message, packet: packet, on: connection)
            case .otherVersion(let version):
                let own = SupervisionProtocol.version
                let reason = SupervisionProtocol.mismatch(application: own, supervisor: version) ?? ""
                Log.write(.error, category: .background, message: "not supervised: \(reason)")
                isRefused = true
                loseConnection()
            case .none: return
            case .lost: loseConnection()
            }
        }
    }

    private func handle(_ message: SupervisorMessage, packet: PacketSocket.Packet, on connection: SupervisorConnection)
    {
        switch message {
        case .welcome(let welcome): accept(welcome, descriptors: packet.takeDescriptors())
        case .refused(let refusal): handleRefusal(refusal, on: connection)
        case _ where !connection.isWelcome: loseConnection()
        case .lifecycle(let callback, let sequence, _): perform(callback, sequence: sequence)
        case .expire: performer.expireTasks()
        case .memoryWarning(let level):
            performer.deliverMemoryPressure(MemoryPressure(number: Int(level)))
        case .suspended: continueAfterSuspension()
        case .taskNames(let request): connection.send(.taskNames(taskNames, request: request))
        case .exit: performer.exitProcess()
        case .wakes(let reply): performer.receive(reply, descriptors: packet.takeDescriptors())
        }
    }

    private func perform(_ callback: LifecycleCallback, sequence: UInt64) {
        // The supervisor sends the report of a suspension before any callback.
        continueAfterUnreportedSuspension()
        state.pendingCallbacks.append(SupervisedState.PendingCallback(callback: callback, sequence: sequence))
        switch callback {
        case .launch: performer.setState(.inactive, at: now)
        case .launchInBackground, .didEnterBackground: performer.setState(.background, at: now)
        case .didBecomeActive: performer.setState(.active, at: now)
        case .wake(let reason): state.wakes.append(reason.withoutPayload)
        case .willResignActive, .willEnterForeground, .openURL, .willTerminate: break
        }
        performer.deliver(callback, at: now)
    }

    /// Delivers what happened during the suspension: the kernel kept it, and it is read before any callback.
    private func continueAfterSuspension() {
        let isKnown = suspensions.handleReport(count: page?.suspensionCount ?? 0)
        deliverHeldNotices(changingState: !isKnown)
    }

    /// Delivers what happened during a suspension that was ended without a report, as by a supervisor that exits.
    func continueAfterUnreportedSuspension() {
        guard let page, suspensions.handleContinuation(count: page.suspensionCount) else { return }
        deliverHeldNotices(changingState: application.state == .background)
    }

    private func deliverHeldNotices(changingState: Bool) {
        if changingState { performer.setState(.suspended, at: now) }
        application.noticeCenter.suspend()
        performer.readNotices()
        if changingState { performer.setState(.background, at: now) }
        performer.deliverNotices(at: now)
    }

    private func handleRefusal(_ refusal: LifecycleEffect.Refusal, on connection: SupervisorConnection) {
        Log.write(.warning, category: .background, message: "the supervisor refused a request: \(refusal)")
        guard !connection.isWelcome else { return }
        isRefused = true
        loseConnection()
    }

    /// The names of the open tasks, as many as fit into a message.
    private var taskNames: [String] {
        var names = [String]()
        var space = PacketSocket.maximumPacketLength / 2
        for name in application.tasks.names.prefix(SupervisionProtocol.listLimit) {
            let cut = String(decoding: name.utf8.prefix(SupervisionProtocol.textLimit / 4), as: UTF8.self)
            space -= cut.utf8.count + 4
            if space < 0 { break }
            names.append(cut)
        }
        return names
    }
}
