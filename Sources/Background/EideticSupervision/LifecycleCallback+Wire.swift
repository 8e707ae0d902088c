package import EideticCore
package import EideticLifecycle

extension LifecycleCallback: WireEncodable, WireDecodable {
    private enum Kind: UInt8 {
        case launch = 1
        case launchInBackground, didBecomeActive, willResignActive, didEnterBackground, willEnterForeground, openURL
        case wake, willTerminate
    }

    package func write(to writer: inout WireWriter) {
        writer.append(kind.rawValue)
        switch self {
        case .launch(let reason), .launchInBackground(let reason): writer.append(reason)
        case .openURL(let url): writer.append(url)
        case .wake(let reason): writer.append(reason)
        case .didBecomeActive, .willResignActive, .didEnterBackground, .willEnterForeground, .willTerminate: break
        }
    }

    private var kind: Kind {
        switch self {
        case .launch: .launch
        case .launchInBackground: .launchInBackground
        case .didBecomeActive: .didBecomeActive
        case .willResignActive: .willResignActive
        case .didEnterBackground: .didEnterBackground
        case .willEnterForeground: .willEnterForeground
        case .openURL: .openURL
        case .wake: .wake
        case .willTerminate: .willTerminate
        }
    }

    package init(from reader: inout WireReader) throws(WireError) {
        switch try reader.enumeration(Kind.self) {
        case .launch: self = .launch(try LaunchReason(from: &reader))
        case .launchInBackground: self = .launchInBackground(try LaunchReason(from: &reader))
        case .didBecomeActive: self = .didBecomeActive
        case .willResignActive: self = .willResignActive
        case .didEnterBackground: self = .didEnterBackground
        case .willEnterForeground: self = .willEnterForeground
        case .openURL: self = .openURL(try IncomingURL(from: &reader))
        case .wake: self = .wake(try WakeReason(from: &reader))
        case .willTerminate: self = .willTerminate
        }
    }
}

extension LaunchReason: WireEncodable, WireDecodable {
    private enum Kind: UInt8 {
        case user = 1
        case url, notificationResponse, wake
    }

    package func write(to writer: inout WireWriter) {
        switch self {
        case .user: writer.append(Kind.user.rawValue)
        case .url(let url):
            writer.append(Kind.url.rawValue)
            writer.append(url)
        case .notificationResponse(let response):
            writer.append(Kind.notificationResponse.rawValue)
            writer.append(response)
        case .wake(let kind):
            writer.append(Kind.wake.rawValue)
            writer.append(kind.rawValue)
        }
    }

    package init(from reader: inout WireReader) throws(WireError) {
        switch try reader.enumeration(Kind.self) {
        case .user: self = .user
        case .url: self = .url(try IncomingURL(from: &reader))
        case .notificationResponse:
            self = .notificationResponse(try reader.text(limit: SupervisionProtocol.urlLimit))
        case .wake: self = .wake(try reader.enumeration(WakeReason.Kind.self))
        }
    }
}

extension IncomingURL: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        writer.append(id)
        writer.append(text)
        writer.append(optional: source) { $0.append($1) }
    }

    package init(from reader: inout WireReader) throws(WireError) {
        let id = try reader.integer(UInt64.self)
        let text = try reader.text(limit: SupervisionProtocol.urlLimit)
        self.init(text, id: id, source: try reader.optional { (reader) throws(WireError) in try reader.identifier() })
    }
}

extension WakeReason: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        writer.append(kind.rawValue)
        writer.append(id)
        writer.append(session)
        writer.append(payload)
    }

    package init(from reader: inout WireReader) throws(WireError) {
        let kind = try reader.enumeration(Kind.self)
        let id = try reader.integer(UInt64.self)
        let session = try reader.text(limit: TransferSupervision.nameLimit)
        self.init(kind, id: id, session: session, payload: try reader.blob(limit: Self.payloadLimit))
    }
}
