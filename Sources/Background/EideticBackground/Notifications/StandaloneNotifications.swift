import EideticDBus
import EideticCore
import EideticLifecycle
import EideticSupervision
import Glibc

/// The notifications of an application without a supervisor, which this process shows while it runs.
///
/// Used by the lifecycle thread only.
final class StandaloneNotifications {
    private let performer: EffectPerformer
    private var table = NotificationTable()
    private var bus: BusConnection?
    /// The time of the next attempt to connect.
    private var nextAttempt: Duration = .zero
    private let interface = NotificationInterface.current

    private static let pause: Duration = .seconds(60)

    init(performer: EffectPerformer) { self.performer = performer }

    private var uptime: Duration { performer.application.clock.uptime }

    private var now: ScheduleTime {
        var seconds = time(nil)
        var parts = tm()
        let offset = localtime_r(&seconds, &parts) == nil ? 0 : Int64(parts.tm_gmtoff)
        return ScheduleTime(steady: uptime.components.seconds, local: Int64(seconds) + offset, offset: offset)
    }

    var pollDescriptors: [pollfd] {
        guard let bus else { return [] }
        return [pollfd(fd: bus.descriptor, events: bus.pollEvents, revents: 0)]
    }

    /// The time of the next call of ``update()`` without an event; `nil` if nothing waits.
    var nextDeadline: Duration? {
        let delays = table.nextDelays(at: now)
        let next = [delays.steady, delays.wall].compactMap(\.self).min().map { uptime + .seconds($0) }
        // A whole second has passed then.
        return [next, bus?.deadline].compactMap(\.self).min()
    }

    /// Handles the requests of the application, and shows what is due.
    func update() {
        for request in performer.application.wakeCenter.takeRequests() { handle(request.command) }
        if let bus, !bus.process() { self.bus = nil }
        guard !table.pending.isEmpty else { return }
        for due in table.takeDue(at: now) { show(due) }
    }

    private func handle(_ command: WakeCommand) {
        let center = performer.application.wakeCenter
        switch command {
        case .submit(_, let number): center.answer(.task(.unavailable, number: number))
        case .beginContinued(let work, let number):
            let isRefused = performer.application.state == .background && !work.isResumed
            center.answer(.task(isRefused ? .notInForeground : .unavailable, number: number))
        case .addNotification(let request, let number):
            let isAdded = table.add(request, at: now)
            let fault = isAdded ? nil : "\(NotificationTable.pendingLimit) notifications wait already"
            center.answer(.notification(fault: fault, number: number))
        case .listNotifications(let number):
            let identifiers = table.pending.map(\.request.identifier)
            center.answer(.notifications(identifiers, number: number, isLast: true))
        case .removeNotifications(let identifiers, let waiting, let shown):
            if waiting { table.removePending(identifiers.map(Set.init)) }
            if shown { table.withdraw(identifiers.map(Set.init), of: identifier, from: interface, on: bus) }
        case .setBadge(let badge): setBadge(badge)
        case .setFetchInterval(.never), .cancel, .unregisterFromMessages, .releaseSocket, .setLocationUpdates(false),
            .reportContinued, .endContinued:
            break
        case .registerForMessages:
            performer.receive(.address(nil, reason: "no supervisor runs that could receive messages"), descriptors: [])
        case .setFetchInterval, .keepSocket, .setLocationUpdates:
            Log.write(
                .warning,
                category: .background,
                message: "no supervisor runs that could wake the application: start eideticd"
            )
        }
    }

    // MARK: The bus

    private var identifier: String { performer.configuration.identifier ?? "eidetic" }

    private func connection() -> BusConnection? {
        if let bus { return bus }
        guard nextAttempt <= uptime, getenv("DBUS_SESSION_BUS_ADDRESS") != nil else { return nil }
        nextAttempt = uptime + Self.pause
        do throws(BusError) {
            let opened = try BusConnection(to: .session)
            for rule in interface.rules { opened.subscribe(to: rule) }
            opened.receive = { [unowned self, unowned opened] in self.receive($0, on: opened) }
            bus = opened
        } catch {
            Log.write(.warning, category: .background, message: "notifications cannot be shown: \(error)")
        }
        return bus
    }

    private func show(_ due: NotificationTable.DueNotification) {
        guard let bus = connection() else { return keep(due, because: "there is no message bus of the user") }
        let (member, values) = interface.call(
            for: due,
            identifier: identifier,
            name: identifier,
            icon: "",
            replacing: table.replacedNumber(for: due.request.identifier)
        )
        bus.call(member, on: interface.target, with: values, timeout: .seconds(10)) { [weak self] result in
            switch result {
            case .success(let values):
                self?.table.recordDelivery(of: due, number: values.first?.number ?? 0)
                if let badge = due.request.content.badge { self?.setBadge(badge) }
            case .failure(let error): self?.keep(due, because: "\(error)")
            }
        }
        _ = bus.process()
    }

    private func keep(_ due: NotificationTable.DueNotification, because reason: String) {
        Log.write(
            .warning,
            category: .background,
            message: "the notification \(due.request.identifier) is shown later: \(reason)"
        )
        table.keep(due, for: Self.pause.components.seconds, at: now)
    }

    private func setBadge(_ badge: UInt32) {
        table.badge = badge
        guard let bus = connection() else { return }
        LauncherEntry.show(badge, of: identifier, on: bus)
        _ = bus.process()
    }

    private func receive(_ message: BusMessage, on bus: BusConnection) {
        if message.isCall {
            return bus.refuse(
                message,
                with: BusError(name: "org.freedesktop.DBus.Error.UnknownMethod", message: "no such method")
            )
        }
        guard let response = interface.response(in: message), let entry = table.delivered(response, of: identifier)
        else { return }
        table.delivered.removeAll { $0 == entry }
        guard !response.isClosed else { return }
        let message = NotificationResponseMessage(
            identifier: entry.request.identifier,
            action: response.action,
            userInfo: entry.request.content.userInfo,
            date: entry.date - now.offset
        )
        performer.receive(.response(message), descriptors: [])
    }
}
