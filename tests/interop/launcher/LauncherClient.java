import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Iterator;
import java.util.Map;

/** A client of the FrameworkLauncher API. What it reads is bound to classes, strictly: no member more and none less. */
final class LauncherClient {
    /** An answer that is no success. */
    static final class Refused extends IOException {
        private static final long serialVersionUID = 1;
        final int status;
        final boolean isTransient;
        final transient Documents.WrappedExceptionMessage said;

        Refused(int status, Documents.WrappedExceptionMessage said) {
            super(status + " " + said.exception + ": " + said.message);
            this.status = status;
            this.isTransient = status == 408 || status == 429 || status == 503;
            this.said = said;
        }
    }

    private final ObjectMapper mapper = new ObjectMapper().enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES,
            DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES, DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
    private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final String root;
    private final String user;
    private final Documents.LaunchClientType type;

    LauncherClient(String root, String user, Documents.LaunchClientType type) {
        this.root = root;
        this.user = user;
        this.type = type;
    }

    static String framework(String name) {
        return "/v1/Frameworks/" + name;
    }

    /** Bind a document; what is written of the object again must be the same document. */
    <T> T read(String text, Class<T> as) throws IOException {
        T object = mapper.readValue(text, as);
        same(mapper.readTree(text), mapper.readTree(mapper.writeValueAsString(object)), as.getSimpleName());
        return object;
    }

    private static void same(JsonNode have, JsonNode want, String at) throws IOException {
        if (want.isObject() && have.isObject()) {
            for (Iterator<Map.Entry<String, JsonNode>> i = want.fields(); i.hasNext(); ) {
                Map.Entry<String, JsonNode> member = i.next();
                if (!have.has(member.getKey()))
                    throw new IOException(at + "." + member.getKey() + " is missing");
                same(have.get(member.getKey()), member.getValue(), at + "." + member.getKey());
            }
        }
        if (!want.isObject() && !have.equals(want))
            throw new IOException(at + " is " + have + ", read as " + want);
    }

    String write(Object document) throws IOException {
        return mapper.writeValueAsString(document);
    }

    private HttpResponse<String> send(String method, String path, String body) throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(root + path)).header("Accept", "application/json")
                .header("UserName", user).header("LaunchClientType", type.name())
                .method(method, body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(body));
        if (body != null)
            request.header("Content-Type", "application/json");
        HttpResponse<String> answer = http.send(request.build(), HttpResponse.BodyHandlers.ofString());
        if (answer.statusCode() >= 300)
            throw new Refused(answer.statusCode(), read(answer.body(), Documents.WrappedExceptionMessage.class));
        return answer;
    }

    <T> T get(String path, Class<T> as) throws IOException, InterruptedException {
        HttpResponse<String> answer = send("GET", path, null);
        String contentType = String.join("; ", answer.headers().allValues("Content-Type"));
        if (!contentType.startsWith("application/json"))
            throw new IOException(path + " is " + contentType);
        return read(answer.body(), as);
    }

    /** Its body is nothing, and it names its own place. */
    int put(String path, Object document) throws IOException, InterruptedException {
        HttpResponse<String> answer = send("PUT", path, write(document));
        String location = answer.headers().firstValue("Location").orElse("");
        if (!answer.body().isEmpty() || !location.equals(root + path))
            throw new IOException("PUT " + path + " answers " + answer.body() + " at " + location);
        return answer.statusCode();
    }

    int delete(String path) throws IOException, InterruptedException {
        return send("DELETE", path, null).statusCode();
    }
}
