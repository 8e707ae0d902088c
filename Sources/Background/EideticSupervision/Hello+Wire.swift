package import EideticCore
import EideticLifecycle

extension Hello: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        writer.append(version)
        writer.append(optional: identifier) { $0.append($1) }
        writer.append(declarations)
        writer.append(optional: presentation) { $0.append($1) }
        writer.append(optional: running) { $0.append($1) }
    }

    package init(from reader: inout WireReader) throws(WireError) {
        version = try reader.integer()
        identifier = try reader.optional { (reader) throws(WireError) in
            try reader.text(limit: SupervisionProtocol.identifierLimit)
        }
        declarations = try Declarations(from: &reader)
        presentation = try reader.optional { (reader) throws(WireError) in try PresentationMessage(from: &reader) }
        running = try reader.optional { (reader) throws(WireError) in try RunningState(from: &reader) }
    }
}

extension Hello.Declarations: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        writer.append(exitsOnSuspend)
        writer.append(optional: backgroundBudget) { $0.append($1) }
        writer.append(set: wakeKinds)
        writer.append(set: assertions)
    }

    package init(from reader: inout WireReader) throws(WireError) {
        exitsOnSuspend = try reader.boolean()
        backgroundBudget = try reader.optional { (reader) throws(WireError) in try reader.duration() }
        wakeKinds = try reader.set(of: WakeReason.Kind.self)
        assertions = try reader.set(of: ContinuousAssertion.self)
    }
}

extension Hello.RunningState: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        writer.append(state.rawValue)
        writer.append(list: wakes) { $0.append($1) }
        writer.append(set: assertions)
        writer.append(token)
        writer.append(generation)
    }

    package init(from reader: inout WireReader) throws(WireError) {
        state = try reader.enumeration(AdoptedProcess.State.self)
        wakes = try reader.list(limit: SupervisionProtocol.listLimit) { (reader) throws(WireError) in
            try WakeReason(from: &reader)
        }
        assertions = try reader.set(of: ContinuousAssertion.self)
        token = try reader.blob(limit: SupervisionProtocol.tokenLength)
        generation = try reader.integer()
    }
}

extension PresentationMessage: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        writer.append(isVisible)
        writer.append(isFocused)
    }

    package init(from reader: inout WireReader) throws(WireError) {
        (isVisible, isFocused) = (try reader.boolean(), try reader.boolean())
    }
}

extension Welcome: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        writer.append(version)
        writer.append(generation)
        writer.append(token)
        writer.append(optional: archiveDirectory) { $0.append($1) }
        writer.append(optional: socketPath) { $0.append($1) }
        writer.append(messageRate)
        writer.append(optional: snapshotPath) { $0.append($1) }
    }

    package init(from reader: inout WireReader) throws(WireError) {
        version = try reader.integer()
        generation = try reader.integer()
        token = try reader.blob(limit: SupervisionProtocol.tokenLength)
        archiveDirectory = try Self.path(from: &reader)
        socketPath = try Self.path(from: &reader)
        messageRate = try reader.integer()
        snapshotPath = try Self.path(from: &reader)
    }

    private static func path(from reader: inout WireReader) throws(WireError) -> String? {
        try reader.optional { (reader) throws(WireError) in try reader.text(limit: SupervisionProtocol.pathLimit) }
    }
}
