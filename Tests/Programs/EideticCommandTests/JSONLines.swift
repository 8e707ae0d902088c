import EideticTestSupport
import FoundationEssentials
import Testing

/// One line of `eidetic load --json`.
struct LoadLine: Decodable {
    let url: String
    let source: String
    let format: String?
    let width: Int?
    let height: Int?
    let bytes: Int?
    let ms: Double
    let error: String?
    let code: String?
    let status: Int?
    let file: String?
}

/// One line of `eidetic inspect --json`.
struct InspectLine: Decodable, Equatable {
    let path: String
    var format: String?
    var mime: String?
    var width: Int?
    var height: Int?
    var orientation: Int?
    var frames: Int?
    var loop: Int?
    var durations_ms: [Double]?
    var alpha: Bool?
    var error: String?
}

extension Subprocess.Result {
    /// Decodes the output as one JSON value per line.
    func lines<Line: Decodable>(_ type: Line.Type = Line.self) throws -> [Line] {
        try outputText.split(separator: "\n").map { line in
            try JSONDecoder().decode(Line.self, from: Data(line.utf8))
        }
    }

    /// Decodes the output as one JSON value.
    func value<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(output))
    }
}
