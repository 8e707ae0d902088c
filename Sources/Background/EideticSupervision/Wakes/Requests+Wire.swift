package import EideticCore
package import EideticLifecycle

extension FetchInterval: WireRecord {
    package static let layout = Layout<Self>(
        Case(1, never),
        Case(2, minimum),
        Case(3, seconds) { if case .seconds(let seconds) = $0 { seconds } else { nil } }
    )
}

extension TaskRequest: WireRecord {
    package static let layout = Layout(
        Self.init,
        Field(\.kind),
        Field(\.identifier, .text(limit: identifierLimit)),
        Field(\.earliestBegin),
        Field(\.constraints)
    )
}

extension TaskRequest.Kind: WireValue {}
extension TaskRequestError: WireValue {}

extension TaskRequest.Constraints: WireRecord {
    package static let layout = Layout(Self.init, \.needsNetwork, \.needsExternalPower, \.needsIdle)
}

extension NotificationRequest: WireRecord {
    package static let layout = Layout(
        Self.init,
        Field(\.identifier, .text(limit: identifierLimit)),
        Field(\.content),
        Field(\.trigger)
    )
}

extension NotificationRequest.Content: WireRecord {
    package static let layout = Layout(
        Self.init,
        Field(\.title, .text(limit: NotificationRequest.textLimit)),
        Field(\.body, .text(limit: NotificationRequest.textLimit)),
        Field(\.sound),
        Field(\.badge),
        Field(\.userInfo, .text(limit: NotificationRequest.textLimit))
    )
}

extension NotificationRequest.Sound: WireRecord {
    package static let layout = Layout<Self>(
        Case(0, none),
        Case(1, standard),
        Case(2, named, .text(limit: NotificationRequest.textLimit)) {
            if case .named(let name) = $0 { name } else { nil }
        }
    )
}

extension NotificationRequest.Trigger: WireRecord {
    package static let layout = Layout<Self>(
        Case(1, now),
        Case(2, interval) { if case .interval(let time, let repeats) = $0 { (time, repeats) } else { nil } },
        Case(3, date) { if case .date(let time) = $0 { time } else { nil } },
        Case(4, daily) { if case .daily(let second, let weekday) = $0 { (second, weekday) } else { nil } }
    )
}
