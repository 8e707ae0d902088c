import EideticCore
import EideticSupervision
import Glibc
import EideticLifecycle

/// The connection to the supervisor: answers its messages, and connects again when it has crashed.
final class SupervisedProbe {
    private let plan: SupervisedPlan
    private let tasks: TaskCounter
    private var socket: PacketSocket?
    private var token: [UInt8] = []
    private var generation: UInt32 = 0
    private var state: AdoptedProcess.State?
    private var openWakes: [WakeReason] = []

    init(plan: SupervisedPlan, tasks: TaskCounter) { (self.plan, self.tasks) = (plan, tasks) }

    func run() {
        if let text = getenv(SupervisionProtocol.descriptorVariable), let number = Int32(String(cString: text)) {
            socket = PacketSocket(adopting: number)
        }
        while true {
            if socket == nil {
                socket = try? PacketSocket.connect(to: "\(directory)/\(SupervisionProtocol.socketName)")
            }
            if let socket {
                sayHello(on: socket)
                receiveAll(on: socket)
            }
            socket = nil
            exitIfUnread()
            // A new supervisor listens after a moment.
            usleep(5_000)
        }
    }

    private var directory: String { SupervisionProtocol.defaultRuntimeDirectory }

    private func sayHello(on socket: PacketSocket) {
        var hello = Hello(identifier: plan.identifier)
        hello.declarations.backgroundBudget = plan.budget
        if let state {
            hello.running = Hello.RunningState(state, token: token, generation: generation)
            hello.running?.wakes = openWakes
            if plan.claimsWork { hello.running?.assertions = [.continued] }
        }
        send(.hello(hello), on: socket)
    }

    private func send(_ message: ApplicationMessage, on socket: PacketSocket) {
        _ = try? socket.send(WireWriter.encode(message))
    }

    private func receiveAll(on socket: PacketSocket) {
        while true {
            var polled = [
                pollfd(fd: socket.rawValue, events: Int16(POLLIN), revents: 0),
                pollfd(fd: STDOUT_FILENO, events: 0, revents: 0),
            ]
            guard poll(&polled, 2, -1) > 0 else { continue }
            exitIfUnread()
            guard polled[0].revents != 0 else { continue }
            switch try? socket.receive() {
            case .packet(let packet): handle(packet, on: socket)
            case .some(.none): continue
            case .end, nil: return
            }
        }
    }

    private func handle(_ packet: PacketSocket.Packet, on socket: PacketSocket) {
        guard let message = try? WireReader.decode(SupervisorMessage.self, from: packet.bytes) else { exit(6) }
        switch message {
        case .welcome(let welcome): connect(welcome, packet: packet, socket: socket)
        case .lifecycle(let callback, let sequence, _): perform(callback, sequence: sequence, on: socket)
        case .expire: expire()
        case .memoryWarning(let level): say("memory \(level)")
        case .suspended: say("suspended")
        case .taskNames(let request): send(.taskNames(plan.tasks, request: request), on: socket)
        case .exit: exit(0)
        case .wakes: say("wakes")
        case .refused(let refusal):
            say("refused \(refusal)")
            exit(7)
        }
    }

    /// Ends when nobody reads the output any more: a process must not outlive its test.
    private func exitIfUnread() {
        var polled = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
        if poll(&polled, 1, 0) == 1, polled.revents & Int16(POLLERR) != 0 { exit(8) }
    }

    private func waitForSignal() {
        var (signals, number) = (sigset_t(), Int32(0))
        sigemptyset(&signals)
        sigaddset(&signals, SIGUSR1)
        sigwait(&signals, &number)
    }

    private func say(_ text: String) { printLine("\(plan.name) \(text)") }

    private func connect(_ welcome: Welcome, packet: PacketSocket.Packet, socket: PacketSocket) {
        token = welcome.token
        generation = welcome.generation
        for number in packet.takeDescriptors() {
            if let page = try? SharedPage(mapping: number) { tasks.connect(page: page, socket: socket) }
            if plan.destroysPage { ftruncate(number, 0) }
            close(number)
        }
        say("welcome \(generation)")
        for _ in 0..<plan.floodCount { flood(on: socket) }
    }

    /// Sends a message that is of no use, and waits while the queue is full.
    private func flood(on socket: PacketSocket) {
        while (try? socket.send(WireWriter.encode(ApplicationMessage.taskNames([], request: 0)))) == false {
            var polled = pollfd(fd: socket.rawValue, events: Int16(POLLOUT), revents: 0)
            poll(&polled, 1, -1)
        }
    }

    private func perform(_ callback: LifecycleCallback, sequence: UInt64, on socket: PacketSocket) {
        let name = Self.name(of: callback)
        say(name)
        if plan.crashesDuringLaunch, name.hasPrefix("launch") { abort() }
        if plan.blockedCallback == name { while true { pause() } }
        if plan.waitedCallback == name { waitForSignal() }
        switch callback {
        case .launch: state = .inactive
        case .launchInBackground: state = .background
        case .didBecomeActive:
            state = .active
            for number in 0..<(2 * plan.workCount) { beginWork(number / 2, on: socket) }
        case .willResignActive, .willEnterForeground: state = .inactive
        case .didEnterBackground:
            state = .background
            touch()
            for number in 0..<plan.resumedWorkCount { beginWork(number, isResumed: true, on: socket) }
            for task in plan.tasks { say(tasks.begin() ? "task \(task)" : "no task \(task)") }
        case .openURL(let url): send(.urlAnswered(url.id, isHandled: !url.text.hasPrefix("refused:")), on: socket)
        case .wake(let reason): openWakes.append(reason)
        case .willTerminate: break
        }
        send(.acknowledged(sequence: sequence), on: socket)
        if let status = plan.exitStatus { exit(status) }
    }

    private func beginWork(_ number: Int, isResumed: Bool = false, on socket: PacketSocket) {
        var work = ContinuedWorkMessage(identifier: "work \(number)", title: "Work \(number)", subtitle: "")
        work.isResumed = isResumed
        send(.wakes(.beginContinued(work, number: UInt64(number))), on: socket)
    }

    private func touch() {
        guard let path = plan.touchedPath else { return }
        let isStarted = Monitor(false)
        Thread.start(name: "touch") {
            isStarted.withLock { $0 = true }
            isStarted.signal()
            _ = access("\(path)/file", F_OK)
        }
        isStarted.wait { $0 ? () : nil }
    }

    private func expire() {
        say("expire")
        if plan.endsTasksAtExpiration { while tasks.count > 0 { tasks.end() } }
    }

    private static func name(of callback: LifecycleCallback) -> String {
        switch callback {
        case .launch: "launch"
        case .launchInBackground: "launchInBackground"
        case .openURL(let url): "openURL \(url.text)\(url.source.map { " from \($0)" } ?? "")"
        case .wake(let reason): "wake \(reason.kind)"
        default: "\(callback)"
        }
    }
}
