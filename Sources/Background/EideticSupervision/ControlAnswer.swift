package import EideticCore

/// An answer of the supervisor to `eidetic app`; a long list takes several packets.
package struct ControlAnswer: Sendable, Hashable {
    /// A Boolean value indicating whether no further packet follows.
    package var isLast: Bool
    package var content: Content

    package init(_ content: Content, isLast: Bool = true) {
        self.content = content
        self.isLast = isLast
    }

    package enum Content: Sendable, Hashable {
        case done
        case applications([ApplicationStatus])
        /// Lines of text: the explanation of a state, each unmet condition, or records.
        case lines([String])
        case refused(Refusal, message: String)
    }

    package enum Refusal: UInt8, WireValue, Hashable, CaseIterable {
        case unknownApplication, notRunning, notPermitted, invalidRequest, lifecycle, failed
    }

}

extension ControlAnswer: WireRecord {
    package static let layout = Layout(Self.init, \.content, \.isLast)
}

extension ControlAnswer.Content: WireRecord {
    package static let layout = Layout<Self>(
        Case(1, done),
        Case(2, applications, .list(.value, limit: SupervisionProtocol.listLimit)) {
            if case .applications(let applications) = $0 { applications } else { nil }
        },
        Case(3, lines, .list(.path, limit: SupervisionProtocol.listLimit)) {
            if case .lines(let lines) = $0 { lines } else { nil }
        },
        Case(4, refused, .value, .path) {
            if case .refused(let refusal, let message) = $0 { (refusal, message) } else { nil }
        }
    )
}
