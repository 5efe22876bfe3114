// Runs once in each browser, as the handler of an image: names the page, and writes the joint under the pointer beside it.
(() => {
  document.title = "posepipe";
  if (window.posepipeHover) return;
  window.posepipeHover = true;
  const REACH_PX = 16;
  const tip = document.createElement("div");
  tip.id = "posepipe-tip";
  tip.hidden = true;
  tip.style.cssText =
    "position:fixed;z-index:1000;pointer-events:none;white-space:pre;padding:.35em .6em;border-radius:.3em;" +
    "font:13px/1.4 system-ui,sans-serif;background:rgba(20,20,20,.9);color:#eee;border:1px solid #555";
  document.body.append(tip);
  let pointer = null;

  const nearest = () => {
    const canvas = pointer?.target;
    if (!(canvas instanceof HTMLCanvasElement)) return null;
    const box = canvas.getBoundingClientRect();
    const joints = JSON.parse(document.getElementById("posepipe-joints")?.dataset.joints ?? "[]");
    let found = null, least = REACH_PX;
    for (const [caption, across, down] of joints) {
      const x = box.x + across * box.width, y = box.y + down * box.height;
      const distance = Math.hypot(x - pointer.clientX, y - pointer.clientY);
      if (distance < least) [found, least] = [{ caption, x, y }, distance];
    }
    return found;
  };
  const show = () => {
    const joint = nearest();
    tip.hidden = joint === null;
    if (joint === null) return;
    tip.textContent = joint.caption;
    tip.style.left = `${Math.min(joint.x + 14, innerWidth - tip.offsetWidth - 4)}px`;
    tip.style.top = `${Math.min(joint.y + 14, innerHeight - tip.offsetHeight - 4)}px`;
  };
  const note = ({ target, clientX, clientY }) => { pointer = { target, clientX, clientY }; show(); };
  window.addEventListener("pointermove", note, { capture: true });
  setInterval(show, 100); // joints move under a pointer that rests
})();
