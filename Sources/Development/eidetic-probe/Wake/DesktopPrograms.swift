import EideticDBus
import EideticCore

/// A notification server: prints what it shows; `click NUMBER` and `cancel NUMBER` are the user.
final class NotificationServer: BusService {
    private var last: UInt32 = 0
    private static let name = "org.freedesktop.Notifications"

    init(address: String) {
        super.init(address: address, name: Self.name)
        bus.receive = { [unowned self] message in
            if message.isCall { return self.handle(message) }
            guard message.member == "Update" else { return }
            printLine("badge \(message.values.first?.text ?? "") \(Self.count(in: message))")
        }
        bus.subscribe(to: "type='signal',interface='com.canonical.Unity.LauncherEntry'")
    }

    private static func count(in message: BusMessage) -> Int64 {
        if case .int64(let count)? = message.values.dropFirst().first?["count"] { count } else { -1 }
    }

    override func handle(_ call: BusMessage) {
        switch call.member {
        case "Notify":
            let replaced = call.values[1].number ?? 0
            last = replaced > 0 ? replaced : last + 1
            let number = replaced > 0 ? replaced : last
            let sound = call.values[6]["sound-name"]?.text ?? "none"
            let (title, body) = (call.values[3].text ?? "", call.values[4].text ?? "")
            if case .int32(let percent)? = call.values[6]["value"] {
                printLine("progress \(number) replacing \(replaced) \(percent) \(title)")
                return bus.answer(call, with: [.uint32(number)])
            }
            printLine("shows \(number) replacing \(replaced) title \(title) body \(body) sound \(sound)")
            bus.answer(call, with: [.uint32(number)])
        case "CloseNotification":
            printLine("closes \(call.values[0].number ?? 0)")
            bus.answer(call)
        default: bus.answer(call)
        }
    }

    override func perform(_ words: [String]) {
        guard words.count == 2, let number = UInt32(words[1]) else { return }
        bus.emit(
            "ActionInvoked",
            from: "/org/freedesktop/Notifications",
            interface: Self.name,
            with: [.uint32(number), .string(words[0] == "cancel" ? "cancel" : "default")]
        )
    }
}

/// A distributor of UnifiedPush: prints registrations; `message JSON` delivers to the last application.
final class Distributor: BusService {
    private var token = ""
    private var service = ""

    init(address: String) { super.init(address: address, name: "org.unifiedpush.Distributor.Test") }

    override func handle(_ call: BusMessage) {
        guard call.member == "Register" else { return bus.answer(call) }
        service = call.values[0].text ?? ""
        token = call.values[1].text ?? ""
        printLine("registers \(service)")
        bus.answer(call, with: [.string("REGISTRATION_SUCCEEDED"), .string("")])
        bus.call("NewEndpoint", on: connector, with: [.string(token), .string("https://push.example/\(service)")])
    }

    private var connector: BusTarget {
        BusTarget(service: service, path: "/org/unifiedpush/Connector", interface: "org.unifiedpush.Connector1")
    }

    override func perform(_ words: [String]) {
        let sentToken = words[0] == "forged" ? "another" : token
        bus.call(
            "Message",
            on: connector,
            with: [.string(sentToken), .bytes(Array(words.dropFirst().joined(separator: " ").utf8)), .string("")]
        )
    }
}

/// The location service GeoClue, as far as a client sees it: `move LATITUDE LONGITUDE` is the machine's movement.
final class LocationService: BusService {
    private static let name = "org.freedesktop.GeoClue2"
    private var place = (latitude: 0.0, longitude: 0.0)
    private var number = 0

    init(address: String) { super.init(address: address, name: Self.name) }

    override func handle(_ call: BusMessage) {
        switch call.member {
        case "GetClient": bus.answer(call, with: [.objectPath("/org/freedesktop/GeoClue2/Client/1")])
        case "Set":
            if case .variant(let value) = call.values[2] { printLine("client of \(value.text ?? "")") }
            bus.answer(call)
        case "Start":
            printLine("starts")
            bus.answer(call)
        case "GetAll":
            bus.answer(
                call,
                with: [
                    .dictionary([
                        ("Latitude", .double(place.latitude)), ("Longitude", .double(place.longitude)),
                        ("Accuracy", .double(25)),
                    ])
                ]
            )
        default: bus.answer(call)
        }
    }

    override func perform(_ words: [String]) {
        place = (Double(words[1]) ?? 0, Double(words[2]) ?? 0)
        number += 1
        bus.emit(
            "LocationUpdated",
            from: "/org/freedesktop/GeoClue2/Client/1",
            interface: "\(Self.name).Client",
            with: [.objectPath("/"), .objectPath("/org/freedesktop/GeoClue2/Location/\(number)")]
        )
    }
}
