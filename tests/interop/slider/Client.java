import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * A client of the Slider API as its document describes it, with nothing but the JDK: creates an application by REST, waits until it is live,
 * reads its containers, flexes it under a condition, releases a container, stops and destroys it. Prints a line for each step.
 *
 *     java Client http://127.0.0.1:9191 alice NAME
 */
public final class Client {
    private static final String ROOT = "/ws/v1/slider/applications/";
    private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1)
        .followRedirects(HttpClient.Redirect.NORMAL).connectTimeout(Duration.ofSeconds(10)).build();
    private final String base;
    private final String user;

    private Client(String base, String user) {
        this.base = base;
        this.user = URLEncoder.encode(user, StandardCharsets.UTF_8);
    }

    /** An answer, its document read when it has one. */
    private record Answer(int status, HttpResponse<String> response, Object document) {
        Map<?, ?> object() {
            return (Map<?, ?>) document;
        }

        String header(String name) {
            return response.headers().firstValue(name).orElse("");
        }
    }

    private Answer ask(String method, String path, Object body, String... headers) throws IOException, InterruptedException {
        String url = base + path + (path.contains("?") ? "&" : "?") + "user.name=" + user;
        HttpRequest.Builder builder = HttpRequest.newBuilder(URI.create(url)).timeout(Duration.ofSeconds(60))
            .header("Accept", "application/json")
            .method(method, body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(Json.write(body)));
        if (body != null) {
            builder.header("Content-Type", "application/json");
        }
        if (headers.length > 0) {
            builder.headers(headers);
        }
        HttpResponse<String> response = http.send(builder.build(), HttpResponse.BodyHandlers.ofString());
        boolean isJson = response.headers().firstValue("Content-Type").orElse("").startsWith("application/json");
        return new Answer(response.statusCode(), response, isJson && !response.body().isEmpty() ? Json.read(response.body()) : null);
    }

    private Answer accepted(String method, String path, Object body, String... headers) throws IOException, InterruptedException {
        Answer answer = ask(method, path, body, headers);
        if (answer.status() / 100 != 2) {
            throw new IOException(method + " " + path + ": " + answer.status() + " " + answer.response().body());
        }
        return answer;
    }

    private static Map<String, Object> component(int priority, int instances) {
        return Map.of("yarn.role.priority", String.valueOf(priority), "yarn.component.instances", instances, "yarn.memory", "32");
    }

    private static Map<String, Object> tree(Map<String, Object> components) {
        return Map.of("schema", "http://example.org/specification/v2.0.0", "global", Map.of(), "components", components);
    }

    /** The server waits; asked again until it says so. */
    private void untilLive(String live, int containers) throws IOException, InterruptedException {
        for (int i = 0; i < 30; i++) {
            Map<?, ?> liveness = accepted("GET", live + "/liveness", null, "Prefer", "wait=5").object();
            Map<?, ?> shown = accepted("GET", live + "/components/worker", null).object();
            if (Boolean.TRUE.equals(liveness.get("allRequestsSatisfied")) && ((List<?>) shown.get("containers")).size() == containers
                && shown.get("releasing").equals(0L)) {
                return;
            }
        }
        throw new IOException("never live with " + containers);
    }

    private void untilState(String name, String state) throws IOException, InterruptedException {
        for (int i = 0; i < 300; i++) {
            if (state.equals(accepted("GET", ROOT + name, null).object().get("state"))) {
                return;
            }
            Thread.sleep(100);
        }
        throw new IOException("never " + state);
    }

    private String rootOf(String name) throws IOException, InterruptedException {
        for (int i = 0; i < 300; i++) {
            Object id = accepted("GET", ROOT + name, null).object().get("id");
            if (id != null) {
                return "/proxy/" + id + "/ws/v1/slider/application";
            }
            Thread.sleep(100);
        }
        throw new IOException("no application id");
    }

    private void containers(String live, String when) throws IOException, InterruptedException {
        TreeSet<String> components = new TreeSet<>();
        int n = 0;
        for (Map.Entry<?, ?> one : accepted("GET", live + "/containers", null).object().entrySet()) {
            Map<?, ?> container = (Map<?, ?>) one.getValue();
            Answer alone = accepted("GET", live + "/containers/" + one.getKey(), null);
            if (!one.getKey().equals(container.get("containerId")) || !alone.object().get("component").equals(container.get("component"))) {
                throw new IOException("not the container: " + alone.response().body());
            }
            components.add((String) container.get("component"));
            n += "worker".equals(container.get("component")) ? 1 : 0;
        }
        System.out.println("containers " + when + ": " + components + " worker=" + n);
    }

    /** The desired document with another number of workers, put while its entity tag is the one that was read. */
    @SuppressWarnings("unchecked")
    private void flex(String application, int workers) throws IOException, InterruptedException {
        String resources = application + "/model/desired/resources";
        Answer read = accepted("GET", resources, null);
        Map<String, Object> document = (Map<String, Object>) read.document();
        ((Map<String, Map<String, Object>>) document.get("components")).get("worker").put("yarn.component.instances", String.valueOf(workers));
        Answer stale = ask("PUT", resources, document, "If-Match", "\"stale\"");
        Answer done = accepted("PUT", resources, document, "If-Match", read.header("ETag"));
        System.out.println("flexed: stale " + stale.status() + ", current " + done.status());
    }

    private void run(String name) throws IOException, InterruptedException {
        Map<String, Object> definition = Map.of("resources", tree(Map.of("web", component(1, 1), "worker", component(2, 2))),
            "appConf", tree(Map.of("web", Map.of("launch_command", "sleep 1000"), "worker", Map.of("launch_command", "sleep 1000"))));
        System.out.println("created: " + accepted("PUT", ROOT + name, definition).status());
        String application = rootOf(name), live = application + "/live";
        untilLive(live, 2);
        containers(live, "at first");
        flex(application, 4);
        untilLive(live, 4);
        containers(live, "after the flex");
        List<?> ids = (List<?>) accepted("GET", live + "/components/worker", null).object().get("containers");
        System.out.println("released: " + accepted("DELETE", live + "/containers/" + ids.get(0) + "?replace=false", null).status());
        untilLive(live, 3);
        Answer bad = ask("PUT", ROOT + name + "/application/model/desired/resources", tree(Map.of("worker", component(2, -1))));
        System.out.println("refused: " + bad.status() + " " + bad.object().get("exception") + ", long enough: "
            + (bad.response().body().length() > 512));
        Answer ping = accepted("DELETE", ROOT + name + "/application/action/ping", null);
        System.out.println("pinged by name: " + ping.object().get("verb"));
        System.out.println("stopping: " + accepted("POST", application + "/action/stop", null).status());
        untilState(name, "STOPPED");
        System.out.println("stopped");
        System.out.println("destroyed: " + accepted("DELETE", ROOT + name, null).status());
    }

    public static void main(String[] words) throws Exception {
        new Client(words[0], words[1]).run(words[2]);
    }
}
