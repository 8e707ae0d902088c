import EideticCore
import EideticSupervision
import EideticTestSupport
import Glibc
import EideticLifecycle
import Testing

/// A supervisor whose messages a test decides, at the other end of a real socket.
final class ScriptedSupervisor: Sendable {
    private let socket: PacketSocket
    let page: SharedPageFile
    private let sequence = Guarded<UInt64>(0)
    let token: [UInt8]
    let generation: UInt32

    /// The time after which a message that does not arrive is a failure.
    private static let patience: Duration = .seconds(60)

    init(
        _ socket: PacketSocket,
        directory: TemporaryDirectory,
        generation: UInt32 = 1
    ) throws(SystemError) {
        (self.socket, self.generation) = (socket, generation)
        token = [UInt8](repeating: UInt8(generation), count: SupervisionProtocol.tokenLength)
        page = try SharedPageFile.create(
            at: directory.path(of: "page \(generation)"),
            generation: generation,
            token: token
        )
    }

    /// Accepts the next connection of a listening socket.
    static func accept(
        at listener: PacketSocket,
        directory: TemporaryDirectory,
        generation: UInt32 = 1
    ) async throws -> ScriptedSupervisor {
        let socket: PacketSocket? = await onThread {
            guard wait(for: listener.rawValue) else { return nil }
            return try? listener.accept()
        }
        let accepted = try #require(socket, "the application does not connect")
        return try ScriptedSupervisor(accepted, directory: directory, generation: generation)
    }

    /// Runs a blocking call on a thread of its own.
    private static func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            Thread.start(name: "supervisor") { continuation.resume(returning: body()) }
        }
    }

    private static func wait(for descriptor: Int32) -> Bool {
        var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&polled, 1, Int32(patience.inNanoseconds / 1_000_000)) == 1
    }

    /// Receives the next message; `nil` at the end of the connection, or if none arrives.
    func next() async throws -> ApplicationMessage? {
        let reception = await Self.onThread { [socket] () -> Result<[UInt8]?, any Error> in
            guard Self.wait(for: socket.rawValue) else { return .success(nil) }
            return Result {
                if case .packet(let packet) = try socket.receive() { packet.bytes } else { nil }
            }
        }
        guard let bytes = try reception.get() else { return nil }
        return try WireReader.decode(ApplicationMessage.self, from: bytes)
    }

    /// Returns the first message for which `match` returns a value; other messages are dropped.
    func expect<Value>(
        _ name: String,
        sourceLocation location: SourceLocation = #_sourceLocation,
        _ match: (ApplicationMessage) -> Value?
    ) async throws -> Value {
        var others: [ApplicationMessage] = []
        while let message = try await next() {
            if let value = match(message) { return value }
            others.append(message)
        }
        throw MissingMessage(name: name, others: others)
    }

    struct MissingMessage: Error {
        let name: String
        let others: [ApplicationMessage]
    }

    func send(_ message: SupervisorMessage, descriptors: [Int32] = []) throws {
        #expect(try socket.send(WireWriter.encode(message), descriptors: descriptors))
    }

    func sendBytes(_ bytes: [UInt8]) throws { #expect(try socket.send(bytes)) }

    /// Receives `hello`, and welcomes the application.
    @discardableResult
    func greet(
        archiveDirectory: String? = nil,
        socketPath: String? = nil,
        messageRate: UInt32 = 32
    ) async throws -> Hello {
        let hello = try await expect("hello") { if case .hello(let hello) = $0 { hello } else { nil } }
        var welcome = Welcome(generation: generation, token: token)
        (welcome.archiveDirectory, welcome.socketPath) = (archiveDirectory, socketPath)
        welcome.messageRate = messageRate
        try send(.welcome(welcome), descriptors: [page.descriptor])
        return hello
    }

    /// Ends the connection, as the end of the supervisor does.
    func disconnect() { shutdown(socket.rawValue, Int32(SHUT_RDWR)) }

    /// Sends a callback, and returns its number.
    @discardableResult
    func deliver(_ callback: LifecycleCallback) throws -> UInt64 {
        let number = sequence.withLock { sequence in
            sequence += 1
            return sequence
        }
        try send(.lifecycle(callback, sequence: number, deadline: .seconds(1 << 30)))
        return number
    }

    /// Sends a callback, and waits for its acknowledgement.
    func perform(_ callback: LifecycleCallback) async throws {
        let number = try deliver(callback)
        try await expect("the acknowledgement of \(callback)") { $0 == .acknowledged(sequence: number) ? () : nil }
    }

    /// Launches the application, and activates it.
    func activate() async throws {
        try await perform(.launch(.user))
        try await perform(.didBecomeActive)
    }

    /// Moves the active application to the background.
    func enterBackground() async throws {
        try await perform(.willResignActive)
        try page.setPhase(.background, deadline: nil)
        try await perform(.didEnterBackground)
    }

    /// Ends the application as a supervisor does.
    func terminate() async throws {
        try page.setPhase(.terminating, deadline: nil)
        try await perform(.willTerminate)
        try send(.exit)
    }
}
