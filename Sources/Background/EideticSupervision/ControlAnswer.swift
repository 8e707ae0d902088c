package import EideticCore

/// An answer of the supervisor to `eidetic app`; a long list takes several packets.
package struct ControlAnswer: Sendable, Hashable {
    /// A Boolean value indicating whether no further packet follows.
    package var isLast: Bool
    package var content: Content

    package init(_ content: Content, isLast: Bool = true) { (self.content, self.isLast) = (content, isLast) }

    package enum Content: Sendable, Hashable {
        case done
        case applications([ApplicationStatus])
        /// Lines of text: the explanation of a state, each unmet condition, or records.
        case lines([String])
        case refused(Refusal, message: String)
    }

    package enum Refusal: UInt8, Sendable, Hashable, CaseIterable {
        case unknownApplication, notRunning, notPermitted, invalidRequest, lifecycle, failed
    }

    private enum Kind: UInt8 {
        case done = 1
        case applications, lines, refused
    }
}

extension ControlAnswer: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        writer.append(isLast)
        switch content {
        case .done: writer.append(Kind.done.rawValue)
        case .applications(let applications):
            writer.append(Kind.applications.rawValue)
            writer.append(list: applications) { $0.append($1) }
        case .lines(let lines):
            writer.append(Kind.lines.rawValue)
            writer.append(list: lines) { $0.append($1) }
        case .refused(let refusal, let message):
            writer.append(Kind.refused.rawValue)
            writer.append(refusal.rawValue)
            writer.append(message)
        }
    }

    package init(from reader: inout WireReader) throws(WireError) {
        isLast = try reader.boolean()
        switch try reader.enumeration(Kind.self) {
        case .done: content = .done
        case .applications:
            content = .applications(
                try reader.list(limit: SupervisionProtocol.listLimit) { (reader) throws(WireError) in
                    try ApplicationStatus(from: &reader)
                }
            )
        case .lines:
            content = .lines(
                try reader.list(limit: SupervisionProtocol.listLimit) { (reader) throws(WireError) in
                    try reader.text(limit: SupervisionProtocol.pathLimit)
                }
            )
        case .refused:
            let refusal = try reader.enumeration(Refusal.self)
            content = .refused(refusal, message: try reader.text(limit: SupervisionProtocol.pathLimit))
        }
    }
}
