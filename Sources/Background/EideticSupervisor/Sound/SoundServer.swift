import EideticCore
import Glibc

/// The sound server of the user, PulseAudio or PipeWire: the processes that play or record.
///
/// It is connected while an application in the background says that it plays. The server reports changes, so nothing is
/// polled.
final class SoundServer {
    /// The place of the server's socket; `nil` if the environment names none.
    var path: String? { Self.defaultPath }
    /// Called when the processes that play have changed, or the connection.
    var didChange: () -> Void = {}
    /// The processes that play or record; `nil` if the server does not answer, or has not answered yet.
    private(set) var playingProcesses: Set<Int32>?

    private let poller: Poller
    /// The time of the next attempt to connect, by the next ``update(isNeeded:at:)``.
    private lazy var retry = poller.alarm {}
    /// A connected socket, which is watched until it is closed.
    private final class Link {
        var watch: Poller.Watch?
        let descriptor: FileDescriptor

        init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
    }

    private var connection: Link?
    private var received: [UInt8] = []
    private var lastNumber: UInt32 = 0
    /// The requests without an answer, by their numbers.
    private var pending: [UInt32: SoundMessage.Command] = [:]
    /// The number of this client.
    private var own: UInt64?
    /// The processes of the clients, by the clients' numbers; `nil` before the first answer.
    private var clients: [UInt64: Int32]?
    private var streams: [SoundMessage.Command: [SoundMessage.Stream]] = [:]
    /// A Boolean value indicating whether something has changed since the lists were asked for.
    private var isOutdated = false

    private static let retryInterval: Duration = .seconds(10)
    private static let lists: [SoundMessage.Command] = [.listClients, .listPlayers, .listRecorders]

    init(poller: Poller) { self.poller = poller }

    /// The socket in `PULSE_SERVER`, `PULSE_RUNTIME_PATH` or `XDG_RUNTIME_DIR`, or else that of the system.
    private static var defaultPath: String? {
        if let server = variable("PULSE_SERVER") {
            // A server on another machine knows no process of this one.
            let path = server.hasPrefix("unix:") ? String(server.dropFirst(5)) : server
            return path.hasPrefix("/") ? path : nil
        }
        if let directory = variable("PULSE_RUNTIME_PATH") { return "\(directory)/native" }
        let own = (variable("XDG_RUNTIME_DIR") ?? "/run/user/\(geteuid())") + "/pulse/native"
        return access(own, F_OK) != 0 && access("/run/pulse/native", F_OK) == 0 ? "/run/pulse/native" : own
    }

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    // MARK: Connection

    /// Connects, if that is due; ends the connection if nobody needs it.
    func update(isNeeded: Bool, at now: Duration) {
        guard isNeeded else { return disconnect(retryAt: nil) }
        guard connection == nil, retry.time == nil else { return }
        connect(at: now)
    }

    private func connect(at now: Duration) {
        guard let path, let link = Self.open(path) else { return retry.time = now + Self.retryInterval }
        link.watch = poller.watch(link.descriptor.rawValue) { [unowned self] in self.read() }
        connection = link
        // The first answer makes a set of it.
        playingProcesses = nil
        for command in [SoundMessage.Command.authenticate, .setName, .subscribe] { send(command) }
    }

    private static func open(_ path: String) -> Link? {
        guard let number = LocalAddress(path: path)?.connect(), number >= 0 else { return nil }
        return Link(FileDescriptor(adopting: number))
    }

    private func disconnect(retryAt time: Duration?) {
        retry.time = time
        guard connection != nil else { return }
        connection?.watch = nil
        connection = nil
        received = []
        pending = [:]
        own = nil
        clients = nil
        streams = [:]
        isOutdated = false
        playingProcesses = nil
        didChange()
    }

    private func fail() { disconnect(retryAt: Clock.now + Self.retryInterval) }

    // MARK: Messages

    private func send(_ command: SoundMessage.Command) {
        guard let connection else { return }
        lastNumber &+= 1
        pending[lastNumber] = command
        let bytes = SoundMessage.request(command, number: lastNumber)
        // A short message always has room, unless the server is stuck.
        let count = Glibc.send(connection.descriptor.rawValue, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        if count != bytes.count { fail() }
    }

    /// A Boolean value indicating whether lists are under way, or will be when the number of this client is known.
    private var isWaiting: Bool { pending.values.contains { $0 == .setName || Self.lists.contains($0) } }

    private func requestLists() {
        isOutdated = false
        for command in Self.lists { send(command) }
    }

    private func read() {
        guard let connection else { return }
        var count = 0
        received += [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, initialized in
            count = recv(connection.descriptor.rawValue, buffer.baseAddress, buffer.count, 0)
            initialized = max(0, count)
        }
        guard count > 0 else {
            if count < 0, errno == EAGAIN || errno == EINTR { return }
            return fail()
        }
        do throws(SoundError) {
            while let message = try takeMessage() { try handle(message) }
        } catch {
            Log.write(.warning, category: .background, message: "the sound server is not understood: \(error)")
            fail()
        }
    }

    /// Takes a complete message; `nil` if there is none yet.
    private func takeMessage() throws(SoundError) -> ArraySlice<UInt8>? {
        guard received.count >= SoundMessage.headLength else { return nil }
        let length = SoundMessage.headLength + (try SoundMessage.bodyLength(in: received[..<SoundMessage.headLength]))
        guard received.count >= length else { return nil }
        let body = received[SoundMessage.headLength..<length]
        received = Array(received[length...])
        return body
    }

    private func handle(_ body: ArraySlice<UInt8>) throws(SoundError) {
        var reader = SoundReader(body)
        guard case .number(let kind) = try reader.next(), case .number(let number) = try reader.next() else {
            throw .unexpected
        }
        switch SoundMessage.Command(rawValue: UInt32(clamping: kind)) {
        case .reply: try handleReply(to: UInt32(clamping: number), from: &reader)
        case .failure:
            guard case .number(let code) = try reader.next() else { throw .unexpected }
            // Streams may name their processes themselves.
            guard pending[UInt32(clamping: number)] == .listClients else { throw .refused(code) }
            try handleReply(to: UInt32(clamping: number), from: &reader)
        case .event: refresh()
        default: break
        }
    }

    private func refresh() {
        isOutdated = true
        if !isWaiting { requestLists() }
    }

    private func handleReply(to number: UInt32, from reader: inout SoundReader) throws(SoundError) {
        guard let command = pending.removeValue(forKey: number) else { return }
        switch command {
        case .setName:
            if case .number(let number) = try reader.next() { own = number }
            return requestLists()
        case .listClients: clients = try SoundMessage.processes(in: &reader, own: own)
        case .listPlayers, .listRecorders: streams[command] = try SoundMessage.streams(in: &reader, of: command)
        default: return
        }
        // The lists belong together.
        guard !isWaiting else { return }
        if isOutdated { requestLists() }
        update()
    }

    private func update() {
        guard let clients else { return }
        let playing = streams.values.joined().filter { !$0.isPaused }.compactMap { clients[$0.client] ?? $0.process }
        guard playingProcesses != Set(playing) else { return }
        playingProcesses = Set(playing)
        didChange()
    }
}
