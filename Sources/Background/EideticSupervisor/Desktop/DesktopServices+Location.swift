import EideticDBus

// The client of GeoClue.
//
// SeeAlso: https://www.freedesktop.org/software/geoclue/docs/
extension DesktopServices {
    private static let service = "org.freedesktop.GeoClue2"
    private static let properties = "org.freedesktop.DBus.Properties"

    /// Asks for a client of the location service, and starts it.
    func startLocation(on bus: BusConnection, for identifier: String) {
        bus.subscribe(to: "type='signal',interface='\(Self.service).Client',member='LocationUpdated'")
        let manager = BusTarget(
            service: Self.service,
            path: "/org/freedesktop/GeoClue2/Manager",
            interface: "\(Self.service).Manager"
        )
        bus.call("GetClient", on: manager) { [weak self, weak bus] result in
            guard let self, let bus, case .success(let values) = result, let path = values.first?.text else {
                return self?.reportLocationFailure(result) ?? ()
            }
            locationClient = path
            let client = BusTarget(service: Self.service, path: path, interface: "\(Self.service).Client")
            let settings = BusTarget(service: Self.service, path: path, interface: Self.properties)
            bus.call(
                "Set",
                on: settings,
                with: [.string(client.interface), .string("DesktopId"), .variant(.string(identifier))]
            )
            bus.call("Start", on: client) { [weak self] in self?.reportLocationFailure($0) }
        }
    }

    private func reportLocationFailure(_ result: Result<[BusValue], BusError>) {
        guard case .failure(let error) = result else { return }
        supervisor.context.log.append("the location service cannot be used: \(error)", for: "eideticd")
    }

    /// Reads the place that a signal announces, and wakes the applications that want it.
    func receiveLocation(_ signal: BusMessage, on bus: BusConnection) {
        guard !signal.isCall, signal.member == "LocationUpdated", signal.path == locationClient,
            let path = signal.values.dropFirst().first?.text
        else { return }
        let settings = BusTarget(service: Self.service, path: path, interface: Self.properties)
        bus.call("GetAll", on: settings, with: [.string("\(Self.service).Location")]) { [weak self] result in
            guard case .success(let values) = result, let fields = values.first,
                let latitude = fields["Latitude"]?.real, let longitude = fields["Longitude"]?.real
            else { return }
            let location = Location(latitude: latitude, longitude: longitude, accuracy: fields["Accuracy"]?.real ?? 0)
            guard location.isValid else { return }
            guard let self else { return }
            for application in applications {
                let view = application.view
                let now = supervisor.context.clock.now
                application.perform(application.components.wakes.deliver(location, in: view, at: now).effects)
            }
        }
    }
}
