import EideticDBus
import EideticCore
import Glibc

/// A service on a private bus, which one thread serves.
class BusService {
    let bus: BusConnection
    private var text = ""

    init(address: String, name: String) {
        guard let bus = try? BusConnection(to: .address(address)) else { exit(3) }
        self.bus = bus
        bus.receive = { [unowned self] message in if message.isCall { self.handle(message) } }
        bus.requestName(name) { result in
            guard case .success(true) = result else { exit(4) }
            printLine("owns \(name)")
        }
    }

    /// Handles a call, which it answers.
    func handle(_ call: BusMessage) { bus.answer(call) }

    /// Performs a command of the test.
    func perform(_ words: [String]) {}

    func run(readingFrom path: String) -> Never {
        let commands = CommandFile(path).open()
        while bus.process() {
            var polled = [
                pollfd(fd: bus.descriptor, events: bus.pollEvents, revents: 0),
                pollfd(fd: commands, events: Int16(POLLIN), revents: 0),
                pollfd(fd: STDOUT_FILENO, events: 0, revents: 0),
            ]
            _ = poll(&polled, 3, 1_000)
            // A process must not outlive its test.
            if polled[2].revents & Int16(POLLERR) != 0 { exit(0) }
            if polled[1].revents != 0 { readCommands(from: commands) }
        }
        exit(0)
    }

    private func readCommands(from descriptor: Int32) {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = read(descriptor, &bytes, bytes.count)
        text += String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        while let end = text.firstIndex(of: "\n") {
            perform(CommandFile.words(of: String(text[..<end])))
            text = String(text[text.index(after: end)...])
        }
    }
}
