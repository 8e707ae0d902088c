/// What all transfers of an engine have in common.
struct EngineOptions: Sendable {
    var caFile: String?
    var userAgent: String
    var name = "eidetic-fetch"
}
